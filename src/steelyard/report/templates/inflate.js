// Inflate: the numbers of a page that would be too large with them as they are, deflated by zlib and in base 64.

function inflated(packed) {
  const data = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0)), made = [];
  let at = 2, bits = 0, held = 0; // after zlib's own two bytes
  const take = (n) => {
    for (; held < n; held += 8) bits |= data[at++] << held;
    const taken = bits & ((1 << n) - 1);
    bits >>>= n;
    held -= n;
    return taken;
  };
  // A canonical Huffman code: how many symbols have each length, and the symbols by length.
  const codeOf = (lengths) => {
    const counts = Array.from({ length: 16 }, (_, length) => (length ? lengths.filter((l) => l === length).length : 0));
    return { counts, symbols: lengths.map((l, symbol) => [l, symbol]).filter(([l]) => l).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, symbol]) => symbol) };
  };
  const next = ({ counts, symbols }) => {
    for (let length = 1, code = 0, first = 0, place = 0; ; length++) {
      code |= take(1);
      if (code - counts[length] < first) return symbols[place + code - first];
      place += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
  };
  // Lengths and distances of copies: where each symbol's range begins, and how many bits give the place in it.
  const ranges = (least, extras) => extras.map((extra) => { const range = [least, extra]; least += 1 << extra; return range; });
  const LENGTHS = ranges(3, Array.from({ length: 28 }, (_, i) => Math.max(0, (i >> 2) - 1))).concat([[258, 0]]);
  const DISTANCES = ranges(1, Array.from({ length: 30 }, (_, i) => Math.max(0, (i >> 1) - 1)));
  const repeated = (length, value) => Array(length).fill(value);
  const FIXED = [codeOf([...repeated(144, 8), ...repeated(112, 9), ...repeated(24, 7), ...repeated(8, 8)]), codeOf(repeated(30, 5))];
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const codes = () => {
    const all = [take(5) + 257, take(5) + 1], some = take(4) + 4, lengths = repeated(19, 0), found = [];
    for (let i = 0; i < some; i++) lengths[ORDER[i]] = take(3);
    const code = codeOf(lengths);
    while (found.length < all[0] + all[1]) {
      const symbol = next(code);
      if (symbol < 16) found.push(symbol);
      else if (symbol === 16) found.push(...repeated(3 + take(2), found[found.length - 1]));
      else found.push(...repeated(symbol === 17 ? 3 + take(3) : 11 + take(7), 0));
    }
    return [codeOf(found.slice(0, all[0])), codeOf(found.slice(all[0]))];
  };
  for (let last = 0; !last;) {
    last = take(1);
    const kind = take(2);
    if (!kind) {
      take(held % 8);
      const length = take(16);
      take(16);
      for (let i = 0; i < length; i++) made.push(take(8));
      continue;
    }
    const [words, distances] = kind === 1 ? FIXED : codes();
    for (let symbol = next(words); symbol !== 256; symbol = next(words)) {
      if (symbol < 256) { made.push(symbol); continue; }
      const [length, extra] = LENGTHS[symbol - 257], end = made.length + length + take(extra), [back, more] = DISTANCES[next(distances)], from = back + take(more);
      while (made.length < end) made.push(made[made.length - from]);
    }
  }
  return new TextDecoder().decode(Uint8Array.from(made));
}

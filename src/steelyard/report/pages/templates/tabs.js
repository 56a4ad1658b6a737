// Tabs: the parts of the report, each an address; on paper all of them stand open.

import { host, put } from "./charts.js";
import { begins, kept, redraws, remembered } from "./frame.js";

const TABS = [...document.querySelectorAll("[role=tab]")].map((tab) => ({ tab, part: host(tab.getAttribute("aria-controls")), name: tab.id.replace("tab-", "") }));
let openTab = TABS.length ? TABS[0].name : "";

function turnTo(name) {
  openTab = TABS.some((each) => each.name === name) ? name : TABS[0].name;
  for (const { tab, part, name: own } of TABS) {
    put(tab, "aria-selected", own === openTab);
    tab.tabIndex = own === openTab ? 0 : -1;
    part.hidden = own !== openTab;
  }
}

if (TABS.length) {
  document.querySelector(".tabs").hidden = false;
  turnTo(openTab);
  kept.push({
    write(parts) { if (openTab !== TABS[0].name) parts.set("part", openTab); },
    read(parts) { turnTo(parts.get("part")); },
  });
  begins.push(() => TABS.forEach(({ tab, name }, i) => {
    const turn = (to) => { turnTo(to); for (const redraw of redraws) redraw(); remembered(); };
    tab.addEventListener("click", () => turn(name));
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = TABS[(to + TABS.length) % TABS.length];
      turn(next.name);
      next.tab.focus();
    });
  }));
}

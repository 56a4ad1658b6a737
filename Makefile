PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: demo test quick check lint bad-arguments test-ledger test-engines postgres locked lock chromium screenshots format record mutants matrix fuzz sklearn-suite coverage promises properties studies selection bench bench-gpu frames docs pages scripts stub build lowest clean

demo: $(VENV)/.demo  ## install into .venv and run the main job on embedded data
	$(BIN)/steelyard demo -o build/demo --force

# Tests start hundreds of processes, which would each compile the package anew.
test quick lowest: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.test chromium  ## install the test tools and run every test
	$(BIN)/python -m pytest -n auto -q

bad-arguments: $(VENV)/.test  ## every bad value for every argument of every public function, of which `make test` tries a fifth
	STEELYARD_ALL_BAD=1 $(BIN)/python -m pytest -n auto -q tests/test_bad_arguments.py tests/test_bad_commands.py

test-ledger: $(VENV)/.test  ## two programs log 500 evaluations each into one ledger, and one is killed ten times
	STEELYARD_LEDGER_WRITES=500 $(BIN)/python -m pytest -q tests/test_ledger_crash.py

test-engines: $(VENV)/.engines postgres  ## install MLflow, PostgreSQL, Ray, Daft and Dask distributed, some hundred megabytes, and run the tests against them
	STEELYARD_CLUSTERS=1 $(BIN)/python -m pytest -q tests/test_mlflow.py tests/test_postgres.py tests/test_clusters_engines.py

postgres:  ## a PostgreSQL server for the tests of SQL; without one they are skipped by name
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { timeout 300 apt-get install -y -qq --no-install-recommends postgresql || \
	    { timeout 60 apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends postgresql; }; }; } >/dev/null 2>&1 || \
	  echo "no PostgreSQL: its tests are skipped"

chromium:  ## a browser for the tests of the pages; without one they are skipped by name
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { timeout 300 apt-get install -y -qq --no-install-recommends chromium || \
	    { timeout 60 apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends chromium; }; }; } >/dev/null 2>&1 || \
	  echo "no chromium: the browser tests are skipped"

screenshots: $(VENV)/.test chromium  ## write docs/images/page-light.webp and page-dark.webp
	$(BIN)/python docs/screenshots.py

check: $(VENV)/.dev lint test  ## what CI runs: the linter, the formatter and the type checker, then every test

lint: $(VENV)/.dev
	$(BIN)/ruff check -q .
	$(BIN)/ruff format --check -q .
	$(BIN)/mypy

QUICK = golden laws record randomness layers names keywords counts spec notation registry reading evaluation comparison uncertainty threshold gates words contributing cli
quick: $(VENV)/.dev lint  ## in two minutes whether a change broke something: lint, types, golden values, laws, layers, the record
	$(BIN)/python -m pytest -n auto -q $(QUICK:%=tests/test_%.py)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .

record: $(VENV)/.test  ## write tests/record anew, what chosen calls, commands and pages give; read its diff before you commit it
	$(BIN)/python tests/write_record.py

mutants: $(VENV)/.test  ## change every formula and some 160 places of the statistics, one at a time; each change must make a test fail
	$(BIN)/python tests/mutants.py

fuzz: $(VENV)/.test  ## 100,000 random calls of the drop-ins beside scikit-learn, some minutes
	$(BIN)/python tests/dropin_fuzz.py 100000

matrix: $(VENV)/.test  ## ask every question of every kind of input, a quarter of an hour; writes docs/matrix.md
	$(BIN)/python tests/input_matrix.py

sklearn-suite: $(VENV)/.test  ## scikit-learn's own tests with our functions in their place
	$(BIN)/python tests/sklearn_suite.py

coverage: $(VENV)/.test  ## simulate how often the intervals hold; writes docs/coverage.md
	$(BIN)/python -m benchmarks.coverage

promises: $(VENV)/.bench  ## simulate how often thresholds keep their promise, and the price; writes docs/promises.md
	$(BIN)/python -m benchmarks.promises

properties: $(VENV)/.test  ## decide every property of every metric; writes docs/properties.md and the package's own copy
	$(BIN)/python -m steelyard.auditing.ship_decisions
	@printf '# What is proved of each metric\n\nWritten by `make properties`: yes is proved, no is refuted by a table, ? is open or does not apply. `steelyard audit NAME` gives the proof or the table; `steelyard explain NAME` the formula. In Python: `audit`, `harsher`, `identities` and `recommend`; on simulated and your own data `correlation_study`, `robustness`, `refit_robustness`, `ratio_spread`, `discrimination` and `disagreement`. What each column says, and who wants it:\n\n' > docs/properties.md
	$(BIN)/steelyard audit --format md >> docs/properties.md

studies: $(VENV)/.test  ## run the studies in full with three seeds each and write docs/studies; one whose data are missing keeps its page
	$(BIN)/python docs/findings.py

selection: $(VENV)/.test $(VENV)/.selection  ## run the selection study in full, most of an hour on two cores, and write its page
	$(BIN)/python docs/findings.py selection

frames: $(VENV)/.test chromium  ## time how the page follows its sliders in Chromium, beside a frame of a screen
	$(BIN)/python -m benchmarks.frames

bench: $(VENV)/.bench  ## check equality with the peers, then time both in one run; writes docs/benchmarks.md; ROWS=word only prints, THEME=heading writes that one
	$(BIN)/python -m benchmarks.run

bench-gpu: $(BIN)/python  ## time tensors on a GPU beside torch's own sort and sums; writes a heading of docs/benchmarks.md; needs torch with CUDA in .venv
	$(BIN)/python -m benchmarks.gpu

build: $(VENV)/.release  ## a wheel and an sdist in dist/, each tried: the wheel in an empty environment, the tests from the sdist; build/sbom.cdx.json
	rm -rf dist build/wheel build/sdist
	$(BIN)/python -m build -q --no-isolation
	$(PYTHON) -m venv --without-pip build/wheel && $(BIN)/pip --python build/wheel install -q --disable-pip-version-check dist/*.whl
	cd build && wheel/bin/steelyard report --counts 28,23,72,2680 > /dev/null && echo "the wheel reports"
	$(BIN)/cyclonedx-py environment --output-reproducible -o build/sbom.cdx.json build/wheel
	mkdir -p build/sdist && tar -xzf dist/*.tar.gz -C build/sdist --strip-components 1
	$(MAKE) -C build/sdist test

lowest: $(BIN)/python chromium  ## every test with the lowest versions that pyproject.toml allows and PYTHON has wheels of
	$(BIN)/pip install -q --disable-pip-version-check uv
	$(BIN)/uv venv -q --clear --python $(PYTHON) build/lowest
	VIRTUAL_ENV=build/lowest $(BIN)/uv pip install -q --resolution lowest-direct \
	  --only-binary :all: --no-binary steelyard --no-binary pyspark -e '.[checks]'
	build/lowest/bin/python -m pytest -n auto -q

docs: $(VENV)/.test  ## the documentation, into build/site; a warning is an error, and nothing is fetched
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pages: $(VENV)/.test  ## write into the pages what their code prints now, and into README.md its tables
	$(BIN)/python docs/blocks.py $(wildcard docs/*.md docs/how/*.md docs/why/*.md)
	$(BIN)/python -m benchmarks.readme

scripts: $(BIN)/python  ## bundle and minify the scripts and styles of the pages with esbuild, which needs node; run it when one has changed
	$(BIN)/python docs/bundles.py

stub: $(VENV)/.test  ## write src/steelyard/__init__.pyi, what type checkers and editors see, from the names and the catalogue
	$(BIN)/python docs/stub.py

locked: $(BIN)/python  ## install what requirements.lock names, and nothing else: CI does so before it calls the other commands
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(VENV)/.demo $(VENV)/.test $(VENV)/.dev $(VENV)/.release

lock: $(VENV)/.release  ## write requirements.lock anew: every version and its hashes, for every Python and system
	$(BIN)/uv pip compile -q --universal --upgrade --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	  --custom-compile-command 'make lock' --extra dev --extra release pyproject.toml -o requirements.lock

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# confidenceinterval asks for setuptools 68, which torch refuses; it works with any.
$(VENV)/.bench: pyproject.toml $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -e '.[bench]'
	$(BIN)/pip install -q --disable-pip-version-check --no-deps 'confidenceinterval>=1.0'
	touch $@

$(VENV)/.%: pyproject.toml $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -e '.[$*]' && touch $@

clean:  ## take away all that the commands above have made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

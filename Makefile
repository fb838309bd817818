# `make` lists what can be made. Every target does all that it needs on a fresh clone, and is quick
# when repeated: packages are installed again only when pyproject.toml or constraints.txt changes.

HOST  ?= 127.0.0.1
PORT  ?= 8000
MODEL ?=

# Any Python from 3.11, to make .venv with.
PYTHON ?= python3

VENV   := .venv
BIN    := $(VENV)/bin
MANAGE := $(BIN)/python manage.py
PYTEST := $(BIN)/python -m pytest
# What reads the settings but needs none of the user's data keeps out of their folder.
SCRATCH := TRACEAPP_DATA_DIR=$(VENV)/scratch
# Stamps: what was installed, and when.
RUNTIME := $(VENV)/runtime.stamp
DEV     := $(VENV)/dev.stamp
BENCH   := $(VENV)/bench.stamp

# Other people's clients, which ask for packages that the product does not need.
CLIENTS := .venv-clients
CLIENTS_STAMP := $(CLIENTS)/stamp
CLIENTS_WANTED := tests/clients/requirements.txt tests/clients/constraints.txt

NPM := npm --prefix frontend
# What npm writes last. Only the frontend's targets need Node: its build is committed.
MODULES := frontend/node_modules/.package-lock.json

# The manifest that collectstatic writes last.
COLLECTED := .collected/staticfiles.json

TEMPLATES = $(shell find templates traceapp inference -name '*.html')

.DEFAULT_GOAL := help
# The parts of `test` are told apart by reading, so they do not run at once; xdist uses the cores.
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- Run -----------------------------------------------------------------------------------------

.PHONY: serve
serve: $(RUNTIME) weights $(COLLECTED) ## Run the service at HOST, PORT with MODEL (127.0.0.1, 8000, chosen)
	$(MANAGE) migrate --verbosity 0
	$(MANAGE) serve --host $(HOST) --port $(PORT) $(if $(MODEL),--model $(MODEL))

.PHONY: weights
weights: $(RUNTIME) ## Bring the weights of MODEL, or of the embedded model
	$(MANAGE) fetch_model $(MODEL)

# Whatever MODEL says, the tests are about this one.
.PHONY: embedded-weights
embedded-weights: $(RUNTIME) ## Bring the weights of the embedded model, as the tests need them
	$(MANAGE) fetch_model smollm2-135m

# --- Test ----------------------------------------------------------------------------------------

.PHONY: test
test: lint types migrations-check frontend-test test-fast test-real test-browser test-reliability ## Run every check and test

.PHONY: test-fast
test-fast: $(DEV) $(COLLECTED) ## Run the tests that need neither weights nor a browser
	$(PYTEST) -n 2 -m "not real_model and not browser and not reliability"

.PHONY: test-real
test-real: $(DEV) embedded-weights ## Run the tests on the embedded model's real weights
	$(PYTEST) -m "real_model and not browser and not reliability"

.PHONY: test-browser
test-browser: $(DEV) embedded-weights $(COLLECTED) ## Run the tests that drive Chromium (CHROMIUM= says which)
	browser="$$(.ci/browser)" && CHROMIUM="$$browser" $(PYTEST) -m browser

.PHONY: test-reliability
test-reliability: $(DEV) embedded-weights $(COLLECTED) ## Run the reliability suite at its short size
	.ci/stores
	$(PYTEST) -m reliability tests/reliability

.PHONY: reliability
reliability: $(DEV) embedded-weights $(COLLECTED) ## Run it at full size, and print its table (quiet machine, 20 min)
	.ci/stores
	RELIABILITY=full $(PYTEST) -m reliability tests/reliability

.PHONY: bench-page
bench-page: $(DEV) embedded-weights $(COLLECTED) ## Measure how quick the live page is, and whether the booth grows (on a machine that does nothing else)
	browser="$$(.ci/browser)" && CHROMIUM="$$browser" $(PYTEST) -s -m browser tests/browser/bench_explorer.py tests/browser/bench_booth.py

.PHONY: bench
bench: $(BENCH) embedded-weights $(COLLECTED) ## Measure the decode path beside others, into docs/benchmarks.md (quiet machine, 20 min)
	$(BIN)/python -W ignore -m tests.benchmarks --write

.PHONY: test-clients
test-clients: $(DEV) $(CLIENTS_STAMP) embedded-weights $(COLLECTED) ## Run real clients of the OpenAI endpoints, in .venv-clients
	SERVER_PYTHON=$(abspath $(BIN)/python) $(CLIENTS)/bin/python -m pytest -c tests/clients/pytest.ini tests/clients

.PHONY: frontend-test
frontend-test: $(MODULES) ## Check and test the page's script, and that its build is up to date
	$(NPM) run --silent check
	$(NPM) run --silent fresh || { echo "static/build/ is not what frontend/ makes: run make frontend"; exit 1; }

.PHONY: lint
lint: $(DEV) ## Check the style of Python and templates
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(if $(TEMPLATES),$(BIN)/djade --check $(TEMPLATES))

.PHONY: types
types: $(DEV) ## Check the types
	$(SCRATCH) $(BIN)/python -m mypy

.PHONY: migrations-check
migrations-check: $(DEV) ## Check that every model change has its migration
	$(SCRATCH) $(MANAGE) makemigrations --check --dry-run

# --- Work on it ----------------------------------------------------------------------------------

.PHONY: frontend
frontend: $(MODULES) ## Build the page's script into static/build/, which is committed
	$(NPM) run --silent build

.PHONY: format
format: $(DEV) $(MODULES) ## Rewrite Python, templates and TypeScript in the project's style
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format
	$(NPM) run --silent format
	$(if $(TEMPLATES),-$(BIN)/djade $(TEMPLATES))

.PHONY: install
install: $(DEV) ## Make .venv with everything, for an editor or for work by hand

.PHONY: lock
lock: $(BIN)/python ## Write constraints.txt anew from what pyproject.toml allows
	$(BIN)/python .ci/lock.py > constraints.new
	mv constraints.new constraints.txt

.PHONY: clean
clean: ## Remove .venv, .venv-clients and caches; the weights and database stay
	rm -rf $(VENV) $(CLIENTS) .collected frontend/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis test-results *.egg-info
	find . -name __pycache__ -not -path './*/node_modules/*' -prune -exec rm -rf {} +

# --- The virtual environment ---------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Token Trace needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --constraint constraints.txt --editable .
	touch $@

$(DEV): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[dev]'
	touch $(RUNTIME) $@

$(BENCH): $(DEV)
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[bench,dev]'
	touch $@

$(CLIENTS_STAMP): $(BIN)/python $(CLIENTS_WANTED)
	test -x $(CLIENTS)/bin/python || $(BIN)/python -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --constraint tests/clients/constraints.txt \
		--requirement tests/clients/requirements.txt
	touch $@

$(MODULES): frontend/package.json frontend/package-lock.json
	$(NPM) ci
	touch $@

$(COLLECTED): $(RUNTIME) $(shell find static traceapp/static inference/static 2>/dev/null)
	$(SCRATCH) $(MANAGE) collectstatic --no-input --clear --verbosity 0

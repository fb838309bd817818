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
test: lint types migrations-check test-fast test-real test-browser ## Run every check and test

.PHONY: test-fast
test-fast: $(DEV) $(COLLECTED) ## Run the tests that need neither weights nor a browser
	$(PYTEST) -n 2 -m "not real_model and not browser"

.PHONY: test-real
test-real: $(DEV) embedded-weights ## Run the tests on the embedded model's real weights
	$(PYTEST) -m "real_model and not browser"

.PHONY: test-browser
test-browser: $(DEV) embedded-weights $(COLLECTED) ## Run the tests that drive Chromium (CHROMIUM= says which)
	browser="$$(.ci/browser)" && CHROMIUM="$$browser" $(PYTEST) -m browser

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

.PHONY: format
format: $(DEV) ## Rewrite Python and templates in the project's style
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format
	$(if $(TEMPLATES),-$(BIN)/djade $(TEMPLATES))

.PHONY: install
install: $(DEV) ## Make .venv with everything, for an editor or for work by hand

.PHONY: lock
lock: $(BIN)/python ## Write constraints.txt anew from what pyproject.toml allows
	$(BIN)/python .ci/lock.py > constraints.new
	mv constraints.new constraints.txt

.PHONY: clean
clean: ## Remove .venv and caches; the weights and database stay
	rm -rf $(VENV) .collected .mypy_cache .pytest_cache .ruff_cache .hypothesis test-results *.egg-info
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

$(COLLECTED): $(RUNTIME) $(shell find static traceapp/static inference/static 2>/dev/null)
	$(SCRATCH) $(MANAGE) collectstatic --no-input --clear --verbosity 0

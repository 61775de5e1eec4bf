# Needs Python 3.11 or newer, git and make; everything else is installed into .venv from requirements.lock.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# pyright is in its package; without this it asks a registry whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# Two workers; the tests of a file stay together in one of them: they may share a server.
PYTEST ?= --numprocesses=2 --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo tournament test check proto bench accept faults lock wheels format clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP)  ## bring everything up, let bots play, replay and verify a match (under 90 s)
	@$(BIN)/kangtou demo

tournament: $(STAMP)  ## short tournaments of all four games, with a report of each in kangtou-tournaments/reports
	@$(BIN)/kangtou tournament run examples/tournaments/short-*.toml --format html -o kangtou-tournaments/reports

test: check  ## all checks and all tests
	@$(BIN)/python -m pytest $(PYTEST)

check: $(STAMP)  ## format, lint, types, import contracts, licences, known weaknesses
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/supply.py

format: $(STAMP)  ## rewrite the code as `check` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proto: $(STAMP)  ## regenerate the Python modules and stubs beside proto/kangtou/**/*.proto
	$(BIN)/python tools/gen_proto.py

bench: $(STAMP)  ## the benchmarks
	$(BIN)/python -m bench $(ARGS)

accept: $(STAMP)  ## run the acceptance lines of one part in full: make accept PART=name [ARGS=--again]
	@$(BIN)/python -m tests.accept $(PART) $(ARGS)

faults: $(STAMP)  ## faults, load, bad input, secrets: one table with figures (ARGS=--short: minutes; ARGS='--only net')
	@$(BIN)/python -m tests.accept trust $(ARGS)

lock: $(STAMP)  ## resolve pyproject.toml anew into requirements.lock
	$(BIN)/python tools/lock.py $(ARGS)

wheels: $(STAMP)  ## check that every pin has wheels for Python 3.11, 3.12 and 3.13
	$(BIN)/python tools/check_wheels.py

clean:  ## remove the environment, caches and results
	rm -rf $(VENV) .accept .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || \
	  { echo "Kangtou needs Python 3.11 or newer, and '$(PYTHON)' was not found." >&2; \
	    echo "Install it, or name one: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Kangtou needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." >&2; \
	    echo "Name a newer one: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@echo "Setting up $(VENV) from requirements.lock (once; a minute or two) ..." >&2
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "'$(PYTHON) -m venv' failed; Debian and Ubuntu ship it apart: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/pip install --quiet --require-hashes --only-binary :all: -r requirements.lock
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

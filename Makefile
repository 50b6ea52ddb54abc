# `make reproduce` and `make test` set up a fresh machine. They need python3 (3.11 to 3.13) and make.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce test check bench bench-scale bench-peers bench-study proofs faults research tables numbers figures clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Setwise needs Python 3.11 to 3.13")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch .venv/ready

reproduce: .venv/ready  ## reproduce every figure, table and claim of the paper: out/report/index.html
	$(BIN)/setwise reproduce --out out/report

test: .venv/ready  ## run all tests except the slow proofs
	$(BIN)/python -m pytest -m 'not slow' -n auto --dist worksteal

check: .venv/ready  ## check style and types
	$(BIN)/ruff check src tests benchmarks docs examples research
	$(BIN)/ruff format --check src tests benchmarks docs examples research
	$(BIN)/mypy

proofs: .venv/ready  ## run the slow proofs: statistics on thousands of runs, all pairs of policy and world, properties on new examples
	$(BIN)/python -m pytest -m slow -n auto --durations=5
	$(BIN)/python -m pytest -m 'hypothesis and not slow' -n auto --hypothesis-profile=random

faults: .venv/ready  ## inject faults into studies, at full size: kills, full disks, locks, damage, concurrency (half an hour)
	cd tests && ../$(BIN)/python -m faults

bench: .venv/ready  ## measure speed against NumPy and C++ loops, as ratios in one run (minutes)
	$(BIN)/python benchmarks/bench.py

bench-scale: .venv/ready  ## measure the cost of arms, horizons, memory and engines (a quarter of an hour)
	$(BIN)/python benchmarks/arms.py
	$(BIN)/python benchmarks/horizons.py
	$(BIN)/python benchmarks/memory.py --full
	$(BIN)/python benchmarks/engines.py

bench-peers: .venv/ready  ## compare with other bandit libraries, each in its own environment (a quarter of an hour)
	cd benchmarks && ../$(BIN)/python -m peers.compare

bench-study: .venv/ready  ## measure ask, tell and opening a study, and compare with Optuna (ten minutes)
	$(BIN)/python benchmarks/study.py

research: .venv/ready  ## repeat the measurements beyond the paper, and update the tables of the docs (two hours)
	$(BIN)/python -m research --write
	$(BIN)/python docs/make_tables.py

tables: .venv/ready  ## update the tables of the docs from stored data
	$(BIN)/python docs/make_tables.py

numbers: reproduce  ## update the numbers of the README and the docs from the report
	$(BIN)/python docs/make_tables.py --report out/report

figures: .venv/ready  ## update the pictures of the README and the docs from stored data
	$(BIN)/python docs/make_figures.py

clean:  ## remove everything that was built
	rm -rf .venv out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis benchmarks/.build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two commands set a fresh machine up: `make reproduce` and `make test`. They need python3 (3.11 to 3.13) and make.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce test check bench bench-scale bench-peers bench-study proofs faults evidence tables numbers figures clean help

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "Setwise needs Python 3.11 to 3.13")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch .venv/ready

reproduce: .venv/ready  ## every figure, table and claim of the paper: out/report/index.html
	$(BIN)/setwise reproduce --out out/report

test: .venv/ready  ## all tests but the slow proofs
	$(BIN)/python -m pytest -m 'not slow' -n auto --dist worksteal

check: .venv/ready  ## style and types
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples
	$(BIN)/mypy

proofs: .venv/ready  ## the slow proofs: statistics on thousands of runs, all pairs of policy and world, properties on new examples
	$(BIN)/python -m pytest -m slow -n auto --durations=5
	$(BIN)/python -m pytest -m 'hypothesis and not slow' -n auto --hypothesis-profile=anew

faults: .venv/ready  ## studies under every fault in full: killed, full, locked, damaged, by many at once (half an hour)
	cd tests && ../$(BIN)/python -m faults

bench: .venv/ready  ## speed as ratios in one run: NumPy, C++, ours (minutes)
	$(BIN)/python benchmarks/bench.py

bench-scale: .venv/ready  ## what arms, horizons, memory and engines cost (a quarter of an hour)
	$(BIN)/python benchmarks/arms.py
	$(BIN)/python benchmarks/horizons.py
	$(BIN)/python benchmarks/memory.py --full
	$(BIN)/python benchmarks/engines.py

bench-peers: .venv/ready  ## other bandit libraries beside ours, each in an environment of its own (a quarter of an hour)
	cd benchmarks && ../$(BIN)/python -m peers.compare

bench-study: .venv/ready  ## what ask, tell and opening a study cost, with Optuna beside it (ten minutes)
	$(BIN)/python benchmarks/study.py

evidence: .venv/ready  ## what was measured beyond the paper, computed again (about an hour)
	$(BIN)/setwise evidence --compute --out src/setwise/evidence/data
	$(BIN)/python docs/make_tables.py

tables: .venv/ready  ## the tables of the docs, from what is kept
	$(BIN)/python docs/make_tables.py

numbers: reproduce  ## the numbers of the README and the docs, from the report
	$(BIN)/python docs/make_tables.py --report out/report

figures: .venv/ready  ## the pictures of the README and the docs, from what is kept
	$(BIN)/python docs/make_figures.py

clean:  ## everything that was made
	rm -rf .venv out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis benchmarks/.build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

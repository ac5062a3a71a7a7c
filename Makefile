# Two commands do everything on a fresh machine with Python >= 3.11: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test bench soak lint figures clean

demo: .venv/installed
	$(BIN)/evoduet suite --initial --select cheap --workers 2 --out results/suite/demo.json
	$(BIN)/evoduet plot cp26 tasks/mathematics/cp26/initial.py --out results/suite/cp26.png
	rm -rf results/runs/demo
	$(BIN)/evoduet run --task cp26 --method evoduet --model offline/perturb --iterations 10 \
	  --candidates 4 --out results/runs/demo

test: .venv/developing
	$(BIN)/pytest -n 2 --dist worksteal

bench: .venv/developing
	$(BIN)/pytest tests/speed --benchmark-enable --benchmark-only -p no:xdist -s -q

soak: .venv/developing
	$(BIN)/python tests/faults/soak.py --evaluations 2000 --out results/soak.json

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

figures: .venv/installed
	$(BIN)/evoduet tables --out results/tables
	$(BIN)/evoduet figures --out results/figures

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks results/suite

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is older than 3.11; run: make PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/python pyproject.toml
	@echo "installing into .venv, a minute or so"
	$(BIN)/pip install --quiet --editable '.[science]'
	touch $@

.venv/developing: .venv/python pyproject.toml
	@echo "installing into .venv, a few minutes"
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ .venv/installed

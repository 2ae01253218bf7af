# All tasks, from a fresh clone. They need Python 3.11 or newer, pip and a C compiler.
#
#   make run      set up if needed, then run the default study (CORES=N: on N cores)
#   make test     set up if needed, then run all checks and tests
#   make setup    only set up: .venv from requirements.lock, and the compiled kernels
#   make lint     only run the style checks
#   make mutants  make small changes to the code and report those that no test notices (an hour)
#   make fuzz     read damaged files of every kind, for five minutes each (an hour)
#   make docs     write config/README.md, docs/api.md and the types again
#   make docs-html  build the documentation, docs/_build/html/index.html
#   make lock     resolve requirements.lock again from pyproject.toml (needs uv)
#   make clean    remove everything that `make setup` made, but keep results and data
#
# PYTHON=python3.12 chooses the interpreter of .venv; BUDGETLEARN_NATIVE=1 compiles for this machine only.

PYTHON ?= python3
CORES ?= all
UV ?= uv

# Create .venv with the Python outside of it, even while .venv is activated.
export PATH := $(subst $(CURDIR)/.venv/bin:,,$(PATH))
IN_VENV = PATH="$(CURDIR)/.venv/bin:$$PATH"

# pip leaves byte-compiling to the first import, which must be allowed to write the result.
unexport PYTHONDONTWRITEBYTECODE

# Stamps of finished steps, inside .venv so that they are removed with it.
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

# A run on this machine needs no SLURM, whose plug-in would look for a controller for ten seconds.
run: unlocked setup
	@$(IN_VENV) SLURM_CONF=/dev/null snakemake --cores $(CORES)
	@echo "Done. Open the report in a browser: $(CURDIR)/results/default/report.html"

# Snakemake locks a folder while it works there, and a killed run (kill -9) leaves its lock behind.
unlocked:
	$(if $(wildcard .snakemake/locks/*),$(error $(LOCKED)))

# While the style checks use one core, another byte-compiles the modules that the tests import.
# Otherwise every worker would do so in a fresh clone.
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

# The kernels are compiled while pip installs the packages that compiling does not need.
setup: $(BUILDERS)
	@$(MAKE) -s -j2 $(BUILT) $(PACKAGES)

# The locked pip comes first, with the packages that build the kernels, because it takes half the
# time of many older versions. --no-compile saves as much again: most modules are never imported,
# and the others are compiled at import. --ignore-installed replaces packages that an interrupted
# set-up left half-written.
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

# The first build also registers the package with pip. Later builds compile only changed kernels, or
# all of them after a change of setup.py.
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

# All extras but `policies`, because PyTorch is larger than everything else together.
EXTRAS = msb peers cli tables workflow slurm cluster docs dev
lock:
	$(UV) pip compile pyproject.toml --universal --python-version 3.11 $(EXTRAS:%=--extra %) --generate-hashes \
	    --no-annotate --custom-compile-command "make lock" --quiet --output-file requirements.lock

clean:
	rm -rf .venv build dist docs/_build docs/auto_examples docs/generated src/*.egg-info .pytest_cache .ruff_cache .hypothesis
	find src tests workflow \( -name '*.so' -o -name __pycache__ \) -prune -exec rm -rf {} +

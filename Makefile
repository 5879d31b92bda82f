# pitbench: thin fronts for the command line. `make help` explains each target.
PYTHON ?= python3
DEVICE ?=
TARGET ?= virtual
BOARD ?= rpi-pico
PORT ?=
RULES ?=
WIRE ?=
JOBS ?= 2
# What takes one device takes this one, unless it is named.
ONE := $(or $(DEVICE),bill-acceptor)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help install hil test lint rabbits fuzz bench sim image boards flash docs clean

install: $(READY) ## make the environment .venv, which every other target makes too

help: ## show what each target does
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10
	@echo
	@echo "hil, test and rabbits take every device, or DEVICE=shuffler; sim, image, flash and docs one, DEVICE=$(ONE) unless named."
	@echo "Narrow hil: TARGET=$(TARGET) RULES='NJ-1.28N(i)*' JOBS=$(JOBS); widen it: WIRE=all, or another one, WIRE=ebds"
	@echo "Flash: make flash BOARD=$(BOARD) DEVICE=$(ONE) PORT=usb:SERIAL (default: the one board that is plugged in)"

hil: $(READY) ## hold every device to its rules on virtual boards, and write the evidence
	@$(BIN)/pitbench verify $(DEVICE) --target $(TARGET) $(addprefix --wire ,$(WIRE)) --rules '$(RULES)' --jobs $(JOBS)

test: lint ## lint, types, the project's own tests, each suite on the good device, every red rabbit
	@$(BIN)/pytest -q -rs -n $(JOBS) tests
	@$(BIN)/pitbench rabbits $(DEVICE) --jobs $(JOBS)

lint: $(READY) ## ruff, formatting, types of the PC side, and of the firmware port by port
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python tests/lint/firmware_types.py

rabbits: $(READY) ## run every known-bad firmware against the suite, print rules x rabbits
	@$(BIN)/pitbench rabbits $(DEVICE) --target $(TARGET) --jobs $(JOBS)

fuzz: $(READY) ## a million mutated frames and ten thousand bills on every wire, both sides against each other
	@PITBENCH_FUZZ_FRAMES=1000000 PITBENCH_FUZZ_BILLS=10000 $(BIN)/pytest -q -n $(JOBS) tests/wires

bench: $(READY) ## measure: link, boot, CRC, suite, rabbits, heap, commits, statistics
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[bench]'
	@$(BIN)/python tests/bench/measure.py

sim: $(READY) ## a virtual board that stays up, with two ports for any host program
	@$(BIN)/pitbench sim $(ONE)

image: $(READY) ## build the release image into build/
	@$(BIN)/pitbench image $(ONE) --kind release --out build/$(ONE)-release

boards: $(READY) ## list the boards that are plugged in, and what runs on them
	@$(BIN)/pitbench boards

flash: $(READY) ## put the image onto a board (BOARD, PORT): copied, proven by digest, started, greeted
	@$(BIN)/pitbench flash $(ONE) --board $(BOARD) $(addprefix --port ,$(PORT))

docs: $(READY) ## draw a device's state chart and the boards' wiring in docs/ again
	@$(BIN)/pitbench draw $(ONE)
	@$(BIN)/pitbench wiring

clean: ## remove the environment, builds and caches; runs/ stays
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "pitbench needs Python 3.10 or newer: set PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "$(PYTHON) can't make an environment: install its venv module (Debian: python3-venv)." >&2; exit 2; }
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

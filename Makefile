# make score [POPULATION=full] [AGENT=embedded-700]   environment, models, the score of the agents
# make test                                           environment, models, the suite
# make check                                          style and types
PYTHON ?= python3.11
POPULATION ?=
AGENT ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
# Byte code is written when a module is first imported: writing all of it took a third of an installation. Where the
# environment forbids it, every process would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
ARGUMENTS := $(if $(POPULATION),--population $(POPULATION)) $(foreach agent,$(AGENT),--agent $(agent))

.PHONY: score test check models clean-environment
.DELETE_ON_ERROR:

score: models
	@$(BIN)/inquesto-dag score $(ARGUMENTS)

test: $(READY_TO_TEST) models
	$(BIN)/pytest -n auto

check: $(READY_TO_TEST)
	$(BIN)/ruff check .
	$(BIN)/mypy

# Each file is verified by digest and left alone when it is whole, so this costs a second when nothing is missing.
models: $(READY)
	@$(BIN)/inquesto-dag models fetch

# The stamp is written last: an installation that was interrupted is taken up again.
$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) is not installed (set PYTHON=...)"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e .
	touch $@

$(READY_TO_TEST): $(READY)
	$(INSTALL) -e ".[dev]"
	touch $@

clean-environment:
	rm -rf $(VENV)

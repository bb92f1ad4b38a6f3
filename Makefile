# Tests run in the test profile: optimised, with overflow checks, without the release profile's link-time optimisation,
# which would be repeated for every test binary after every change.
CARGO ?= cargo
BUILD := --locked --workspace

.DEFAULT_GOAL := help
.PHONY: help demo test attack deny python r parquet spark bench lint doc docs release

help:
	@echo 'make demo    simulate data, fit, predict, choose k, draw a path: files in target/demo (seconds, once built)'
	@echo 'make test    formatting, lints, documentation, all tests: what must pass before a commit'
	@echo 'make attack  look for what breaks: altered files for every reader, ten minutes (ATTACK_SECONDS=60: one), then 20,000 problems for every bound'
	@echo 'make deny    advisories and licences of the dependencies, with cargo-deny (needs the network)'
	@echo 'make python  the Python part of them alone; ARGS go to pytest'
	@echo 'make r       the R package: built, tested, its source package made and checked as CRAN does (a part of it in make test)'
	@echo 'make parquet the Parquet reader and writer, a feature whose libraries take minutes to build'
	@echo 'make spark   the example of fits over Spark, on a Spark of this machine (needs Java, and the network the first time)'
	@echo 'make bench   compare with other libraries (bench/README.md); ARGS=--quick for a subset, ARGS=field for all of them'
	@echo 'make lint    formatting and lints only'
	@echo 'make doc     documentation of the crates only, to target/doc/ksparse/index.html'
	@echo 'make docs    the site: guide, gallery, references, to target/site/html/index.html; with Java, what pages say of Spark is run'
	@echo 'make release VERSION=0.2.0: packages, a commit and a tag; ARGS=--dry-run: all of it on a copy (ARGS="--dry-run --quick": nothing compiled)'

demo:
	@$(CARGO) run --profile quick --locked --quiet --package ksparse-cli -- demo --dir target/demo

test: lint doc
	$(CARGO) test $(BUILD)
	$(MAKE) python
	CARGO='$(CARGO)' r/test

# Each part takes its time; what it finds, it prints with the number that repeats it.
ATTACK_SECONDS ?= 600
attack:
	$(CARGO) test $(BUILD) --test attack -- --seconds $(ATTACK_SECONDS)
	$(CARGO) test $(BUILD) --test library all_bounds -- --ignored --nocapture

# Not part of `test`: it needs cargo-deny, and for the advisories the network.
deny:
	$(CARGO) deny --locked check licenses bans sources
	$(CARGO) deny --locked check advisories

# The Python package: its wheel is built and tested in a virtual environment of its own, .venv.
python:
	CARGO='$(CARGO)' crates/ksparse-py/test $(ARGS)

# The R package. `test` runs its tests alone, where there is R.
r:
	CARGO='$(CARGO)' r/test --check

parquet:
	$(CARGO) clippy --locked --package ksparse-io --package ksparse-cli --features ksparse-cli/parquet --all-targets -- -D warnings
	$(CARGO) test --locked --package ksparse-io --features parquet

spark:
	CARGO='$(CARGO)' crates/ksparse-py/spark/test $(ARGS)

bench:
	bench/run $(ARGS)

# The workspace turns all features of the library on; it must hold without any too.
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(BUILD) --all-targets -- -D warnings
	$(CARGO) clippy --locked --package ksparse --package headless --no-default-features -- -D warnings

doc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(BUILD) --no-deps

# Pages are tested by `python` (their blocks, links and examples) and `r`; here they become a site.
docs: doc
	CARGO='$(CARGO)' docs/make $(ARGS)

release:
	CARGO='$(CARGO)' python3 ship/release.py $(VERSION) $(ARGS)

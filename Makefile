# Start with `make demo` and `make test`; `make help` lists the rest. Each target first installs missing packages
# (apt-get), except the Swift toolchain.
.DEFAULT_GOAL := help
.PHONY: help test demo install check check-long format api samples docs coverage benchmarks resilience

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' Makefile | expand -t 14

test: ## all tests, of the package, the guides, the tool, the examples and the macros (COVERAGE=1, FILTER=regex)
	@scripts/install-missing python3
	@scripts/test

demo: ## small apps against a real server, in the terminal
	@scripts/install-missing
	@scripts/demo

install: ## the command-line tool, into PREFIX/bin (default /usr/local)
	@scripts/install-missing
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install

check: ## everything CI checks
	@.ci/run

check-long: ## sanitizers, soaks, long fuzzing, installation: before a release
	@scripts/install-missing python3 nginx squid docker-registry httpbin datasette litestar-tus aiohttp-tus seaweedfs openstack-swift moto authlib curl publicsuffix
	@scripts/check-long

format: ## format the sources
	@scripts/install-missing
	@scripts/format

api: ## accept a change of the public API: writes api/
	@scripts/install-missing python3
	@scripts/api

samples: ## write the samples of the documentation as test files
	@scripts/install-missing python3
	@scripts/samples

docs: ## build the documentation into docs-out/
	@scripts/install-missing
	@scripts/docs

coverage: ## line coverage, with the lines no test reaches
	@scripts/install-missing python3
	@scripts/samples
	@COVERAGE=1 scripts/swift-test --enable-code-coverage --scratch-path .build-coverage
	@scripts/coverage --missing

benchmarks: ## the benchmarks, optimized
	@scripts/install-missing
	@scripts/benchmarks

resilience: ## the simulations, with their plots and tables in docs/resilience.md
	@scripts/install-missing python3
	@Benchmarks/figures/resilience

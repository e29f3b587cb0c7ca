# make test     the tests for daily work: needs only Go; minutes
# make tools    installs what make merge uses in addition to Go, on Debian as root: Erlang, Elixir, Python, Prometheus, Docker
#               TIER=night: also what make night uses
# make merge    what must pass before a change lands: make test, and then more; at most 20 minutes
# make night    hours of fuzzing, storms, all attacks, all faults in containers, soak, releases, other releases of OTP
#               PARTS="race attack": some parts of merge or night; make parts lists them
# make shake    the packages of make test 20 times each on a busy machine: ROUNDS, PACKAGES
# make bench    the comparison with Erlang, plain channels, Proto.Actor, bare TCP, net/rpc and gRPC; writes bench/RESULTS.md
# make figures  costs of the daemon: time to start, memory, size; to drain 100,000 processes and 1,000 connections
# make profile  runs the message benches under the profiler and writes default.pgo for the compiler
# make release  binaries, archives, packages, manual, completions, checksums and SBOMs into dist: see deploy/release

GO    ?= go
TESTS := $(GO) run ./deploy/tests
PARTS ?=
TIER  ?= merge

# Use the go.work of this repository; -mod=mod is an error with a workspace.
export GOWORK :=
export GOFLAGS := $(filter-out -mod=mod,$(GOFLAGS)) -buildvcs=false

.PHONY: test tools merge night parts shake bench figures profile release

test:
	@$(TESTS) test

tools:
	@.ci/tools $(TIER)

merge: $(if $(PARTS),,test)
	@$(TESTS) merge $(PARTS)

night:
	@$(TESTS) night $(PARTS)

parts:
	@$(TESTS) list

shake:
	@$(TESTS) shake $(if $(ROUNDS),-rounds $(ROUNDS)) $(PACKAGES)

bench:
	$(GO) run ./bench compare

figures:
	$(GO) test -pgo=off -count=1 -run '^$$' -bench 'BenchmarkStart|BenchmarkDrain' -benchtime 3x ./internal/daemon/command

profile:
	@.ci/profile

# With the profile: half an hour on two processors. VERSION=v1.2.3, TARGETS=linux/amd64,darwin/arm64
release:
	cd deploy/release && $(GO) run -pgo=off . -out ../../dist $(if $(VERSION),-version $(VERSION)) $(if $(TARGETS),-targets $(TARGETS))

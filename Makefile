# make soak   ten minutes of messages between two nodes: memory stays flat
# make test   everything that must pass: see scripts below
# make bench  the comparison with Erlang, plain channels and bare TCP; writes bench/RESULTS.md
# make race   the concurrency rooms under the race detector
# make fuzz   every fuzz target, FUZZTIME inputs (40000x) or for so long (30s) each
# make smoke  every bench with tiny parameters
# make interop  the node judged by real OTP nodes: the installed one, 27 and 29

GO       ?= go
FUZZTIME ?= 40000x
RACE     := ./mailbox ./sched/... ./node/... ./supervisor/... ./cmd/... ./wire/epmd ./wire/erldist ./wire/native

.PHONY: test tools check unit race fuzz smoke bench interop soak

test: tools check unit race fuzz smoke

tools:
	@.ci/tools

check:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...

unit:
	$(GO) test ./...

race:
	$(GO) test -race -timeout 20m $(RACE)

fuzz:
	@.ci/fuzz $(FUZZTIME)

soak:
	$(GO) run ./bench soak

smoke:
	$(GO) run ./bench compare quick=1

bench:
	$(GO) run ./bench compare

interop:
	ACTORNODE_OTP_ROOTS=$$(deploy/interop/releases 27=trixie 29=sid) $(GO) test -count=1 -timeout 60m -v -run TestInterop ./deploy/interop

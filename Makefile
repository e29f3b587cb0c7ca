# make test   everything that must pass: see scripts below
# make bench  the comparison with Erlang and plain channels; writes bench/RESULTS.md
# make race   the concurrency rooms under the race detector
# make fuzz   every fuzz target for FUZZTIME
# make smoke  every bench with tiny parameters

GO       ?= go
FUZZTIME ?= 5s
RACE     := ./mailbox ./sched ./node

.PHONY: test tools check unit race fuzz smoke bench

test: tools check unit race fuzz smoke

tools:
	@.ci/tools

check:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...

unit:
	$(GO) test ./...

race:
	$(GO) test -race $(RACE)

fuzz:
	@.ci/fuzz $(FUZZTIME)

smoke:
	$(GO) run ./bench compare quick=1

bench:
	$(GO) run ./bench compare

# make soak   ten minutes of messages and faults between three nodes: all comes back to what it was
# make test   everything that must pass: see scripts below
# make bench  the comparison with Erlang, plain channels, bare TCP, net/rpc and gRPC; writes bench/RESULTS.md
# make figures  what the daemon takes: time to start, memory, size; to drain 100,000 processes and 1,000 connections
# make profile  the benches of messages under the profiler: what the compiler is told, default.pgo
# make portable  the models and tests of what has tricks, built without them: tag actornode_portable
# make race   what is concurrent under the race detector
# make fuzz   every fuzz target, FUZZTIME inputs (40000x) or for so long (30s) each
# make fuzz-sessions  sessions of peers, right and wrong: STEPS (1000000) of them, SEED to repeat
# make smoke  every bench with tiny parameters
# make attack  every attack on a running daemon, and what came out of each; make test has the quick ones
# make cluster-test  the compose file in real containers, through every fault; writes deploy/RESULTS.md; make test has the short part
# make cross  vet for Windows and macOS
# make release  binaries, archives, packages, manual, completions, checksums and SBOMs into dist: see deploy/release
# make release-test  the packages in a clean Debian, and all targets built twice
# make storm  1,000 random sequences over OTP nodes and ours, SEED to repeat; meshes of 50 and 12 nodes
# make interop  the node judged by real OTP nodes: the installed one, 27 and 29, and by clusters of them and of 23

GO       ?= go
FUZZTIME ?= 40000x
STEPS    ?= 1000000
SEED     ?= 0
SMALL    := ./mailbox ./sched/... ./node/... ./wire/... ./supervisor/... ./internal/... ./cmd/...
RACE     := ./mailbox ./sched/... ./internal/... ./node/... ./supervisor/... ./cmd/... ./wire/erldist ./wire/native

# Checks and tests are compiled without the profile: with it everything is compiled anew for each program.
check cross unit portable race fuzz storm release-test cluster-test: export GOFLAGS += -pgo=off

.PHONY: test tools check cross unit portable race fuzz fuzz-sessions smoke bench figures profile interop storm soak attack release \
	release-test cluster-test

test: tools check unit portable race fuzz smoke

tools:
	@.ci/tools

check:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt-ed:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) run ./cmd/actornode vet ./...
	GOARCH=386 $(GO) build $(SMALL)
	GOARCH=386 $(GO) vet $(SMALL)

# What other systems get that is only compiled here: a quarter of an hour where nothing is cached.
cross:
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

# Attacks and containers come last and alone: they take all that the machine has, and others measure it.
unit:
	$(GO) test -timeout 40m $$($(GO) list ./... | grep -v '/deploy/\(attack\|cluster\)$$')
	$(GO) test -timeout 40m ./deploy/attack
	$(GO) test -timeout 40m ./deploy/cluster
	cd bench/peers/grpc && $(GO) vet ./... && $(GO) test ./...
	cd deploy/release && $(GO) vet ./... && $(GO) test ./...
	cd deploy/kubernetes && $(GO) vet ./... && $(GO) test ./...
	cd deploy/grafana && $(GO) vet ./... && $(GO) test ./...

# What other systems than linux/amd64 get, on this one.
portable:
	$(GO) vet -tags actornode_portable ./...
	$(GO) test -short -timeout 40m -tags actornode_portable ./mailbox ./internal/bias ./internal/box ./internal/executor ./internal/etfcodec ./internal/fiber ./wire/native
	$(GO) test -short -timeout 40m -tags actornode_portable -run 'TestStage|TestReceive|TestCall|TestLink|TestInfo' ./node

race:
	# internal/vet has one goroutine; a tool of go vet that is built so takes minutes for each look at the repository.
	$(GO) test -race -timeout 40m $$($(GO) list $(RACE) | grep -v '/internal/vet$$')

fuzz:
	@.ci/fuzz $(FUZZTIME)

fuzz-sessions:
	$(GO) test -count=1 -timeout 4h -v -run TestSessions ./deploy/attack/internal/session -steps=$(STEPS) -seed=$(SEED)

soak:
	$(GO) run ./bench soak

smoke:
	$(GO) run ./bench compare quick=1

bench:
	$(GO) run ./bench compare

figures:
	$(GO) test -pgo=off -count=1 -run '^$$' -bench 'BenchmarkStart|BenchmarkDrain' -benchtime 3x ./internal/command

profile:
	@.ci/profile

# With the profile: half an hour on two processors. VERSION=v1.2.3, TARGETS=linux/amd64,darwin/arm64
release:
	cd deploy/release && $(GO) run -pgo=off . -out ../../dist $(if $(VERSION),-version $(VERSION)) $(if $(TARGETS),-targets $(TARGETS))

release-test:
	cd deploy/release && $(GO) test -count=1 -timeout 60m -v ./... -release.targets=all -release.install

interop:
	ACTORNODE_OTP_ROOTS=$$(deploy/interop/releases 27=trixie 29=sid 23=bullseye) $(GO) test -count=1 -timeout 60m -v -run TestInterop ./deploy/interop

storm:
	$(GO) test -count=1 -timeout 4h -v ./deploy/storm -storm.sequences=1000 -storm.seed=$(SEED) -storm.mesh

cluster-test: tools
	$(GO) test -count=1 -timeout 120m -v -run TestCluster ./deploy/cluster -cluster.all

attack:
	bash -o pipefail -c "$(GO) test -count=1 -timeout 60m -v -run TestAttacks ./deploy/attack -attack.all | grep -v '^ *\(=== \|--- PASS\)'"

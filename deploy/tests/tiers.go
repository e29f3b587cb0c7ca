package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tiers lists the three tiers.
var tiers = []tier{
	{"test", "needs Go and nothing else", testParts},
	{"merge", "what must pass beside test before a change lands", mergeParts},
	{"night", "the hours", nightParts},
}

var testParts = []part{
	{"format", "gofmt on all files", nil, formatted},
	{"vet", "go vet on the library and the daemon", nil, command("go", "vet", "./...")},
	{"tests", "go test ./...: the library and the daemon, against recorded answers of OTP", nil,
		goTests(".", "test", "-vet=off", "./...")},
	{"examples", "vet and tests of the programs in examples", nil, goTests("examples", "test", "./...")},
	{"race", "the race detector on what is lock-free, and on races in package node", []string{compiler}, quickRace},
}

var mergeParts = []part{
	{"static", "staticcheck and our own vet", nil, static},
	{"386", "the types of the library and the daemon for a processor of 32 bits", nil, typesFor("GOARCH=386", "", "./...")},
	{"portable", "what other systems than linux/amd64 get: without the tricks, tag actornode_portable", nil, portable},
	{"full", "go test ./... with real OTP, Elixir and Python, documents that are compiled and played, longer random tests", nil,
		goTests(".", "merge", "-vet=off", "./...")},
	{"race", "the race detector on every package that starts goroutines or holds atomics or locks", []string{compiler},
		race("test")},
	{"modules", "bench, deploy, examples and the modules in them: vet and tests; interop with the installed OTP", nil, modules},
	{"attack", "the quick attacks on a running daemon", nil, goTests("deploy", "merge", "./attack")},
	{"cluster", "a short cluster in containers, with some faults", []string{"dockerd", "iptables"},
		goTests("deploy", "merge", "./cluster")},
}

var nightParts = []part{
	{"full", "go test ./... at full length", nil, goTests(".", "night", "-vet=off", "./...")},
	{"race", "what merge runs under the race detector, longer", []string{compiler}, race("merge")},
	{"fuzz", "every fuzz target, FUZZTIME (60s) each", nil, command(".ci/fuzz", setting("FUZZTIME", "60s"))},
	{"sessions", "STEPS (1000000) random steps of peers; SEED repeats them", nil,
		goTests("deploy", "night", "-count=1", "-run", "TestSessions", "./attack/internal/session",
			"-steps="+setting("STEPS", "1000000"), "-seed="+setting("SEED", "0"))},
	{"storm", "SEQUENCES (1000) at random over OTP nodes and ours, SEED repeats them; meshes of 50 and 12", []string{"erl"},
		goTests("deploy", "night", "-count=1", "./storm", "-storm.mesh",
			"-storm.sequences="+setting("SEQUENCES", "1000"), "-storm.seed="+setting("SEED", "0"))},
	{"interop", "OTP 25, 27 and 29 judge the node, and clusters of them and of 23", []string{"erl", "debootstrap"}, interop},
	{"attack", "every attack, with a table of what came out", nil,
		goTests("deploy", "night", "-count=1", "-run", "TestAttacks", "./attack", "-attack.all")},
	{"cluster", "the compose file in containers, through every fault; writes deploy/RESULTS.md", []string{"dockerd", "iptables"},
		goTests("deploy", "night", "-count=1", "-run", "TestCluster", "./cluster", "-cluster.all")},
	{"release", "all targets built twice; the packages in a clean Debian", []string{"debootstrap"},
		goTests("deploy/release", "night", "-count=1", "./...", "-release.targets=all", "-release.install")},
	{"cross", "the types for Windows and macOS", nil, func(r *run) error {
		return errors.Join(typesFor("GOOS=windows", "", everything...)(r), typesFor("GOOS=darwin", "", everything...)(r))
	}},
	{"smoke", "every bench with tiny parameters, beside its peers", nil, command("go", "run", "./bench", "compare", "quick=1")},
	{"soak", "ten minutes of messages and faults between three nodes", nil, command("go", "run", "./bench", "soak")},
	{"faults", "planted faults, and which test catches each; writes the table in docs/tests.md", nil,
		command("go", "run", "./deploy/faults", "-table", "docs/tests.md")},
	{"shake", "the packages of make test 20 times on a busy machine, with 1, 2 and 8 processors", nil,
		command("go", "run", "./deploy/tests", "shake")},
}

// command returns a part that runs a program in the root directory.
func command(name string, args ...string) func(r *run) error {
	return func(r *run) error { return r.command(".", nil, name, args...) }
}

// goTests returns a part that runs go test in a directory at a tier.
func goTests(dir, tier string, args ...string) func(r *run) error {
	return func(r *run) error { return r.goTest(dir, tier, args...) }
}

// everything lists the packages of the workspace: the library, the daemon, bench, deploy and examples.
var everything = []string{"./...", "./bench/...", "./deploy/...", "./examples/..."}

func static(r *run) error {
	return errors.Join(r.command(".", nil, "go", append([]string{"tool", "staticcheck"}, everything...)...),
		r.command(".", nil, "go", append([]string{"run", "./cmd/actornode", "vet"}, everything...)...))
}

// lockFree lists the packages on which all concurrent code relies.
var lockFree = []string{
	"./internal/sched/fiber", "./internal/mailbox/inbox", "./internal/sched/executor",
	"./internal/kernel/calls", "./internal/kernel/flow", "./internal/kernel/peers",
	"./internal/kernel/limits", "./internal/kernel/runner", "./internal/kernel/process", "./internal/kernel/tables",
}

func quickRace(r *run) error {
	return errors.Join(r.goTest(".", "test", append([]string{"-race", "-vet=off"}, lockFree...)...),
		r.goTest(".", "test", "-race", "-vet=off", "-run", "Race|Stress|Storm|Flood|Random|Chaos|Model", "./node"))
}

// race runs the concurrent packages under the race detector at a tier.
func race(tier string) func(r *run) error {
	return func(r *run) error {
		packages, err := racePackages()
		if err != nil {
			return err
		}
		return r.goTest(".", tier, append([]string{"-race", "-vet=off"}, packages...)...)
	}
}

func portable(r *run) error {
	const tag = "-tags=actornode_portable"
	return errors.Join(typesFor("", tag, "./...")(r),
		r.goTest(".", "test", tag, "-vet=off", "./mailbox", "./internal/wire/box", "./internal/sched/executor",
			"./internal/wire/etfcodec", "./internal/sched/fiber", "./wire/native"),
		r.goTest(".", "test", tag, "-vet=off", "-run", "TestStage|TestReceive|TestCall|TestLink|TestInfo", "./node"))
}

// inside lists the modules below bench and deploy. Each has its own workspace.
var inside = []string{"bench/peers/grpc", "bench/peers/protoactor", "deploy/kubernetes", "deploy/grafana", "deploy/release"}

func modules(r *run) error {
	var errs []error
	for _, m := range append([]string{"bench", "deploy", "examples"}, inside...) {
		packages, err := r.packages(m)
		if err == nil {
			err = r.goTest(m, "merge", packages...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// packages lists the packages of a module that no other part runs.
func (r *run) packages(module string) ([]string, error) {
	var out bytes.Buffer
	if err := r.start(module, nil, &out, "go", "list", "./..."); err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", module, err, lastLines(out.String(), 20))
	}
	var found []string
	for p := range strings.FieldsSeq(out.String()) {
		if name := short(p); name != "deploy/attack" && name != "deploy/cluster" {
			found = append(found, p)
		}
	}
	return found, nil
}

// interop runs the suite with the available releases. The log tells why others are missing.
func interop(r *run) error {
	cmd := exec.CommandContext(r.ctx, "deploy/interop/releases", "27=trixie", "29=sid", "23=bullseye")
	cmd.Dir, cmd.Stderr = r.root, r.log
	roots, err := cmd.Output()
	if err != nil {
		return err
	}
	return r.goTestIn("deploy", []string{"ACTORNODE_TESTS=night", "ACTORNODE_OTP_ROOTS=" + strings.TrimSpace(string(roots))},
		"-count=1", "-run", "TestInterop", "./interop")
}

// setting returns an environment variable, or its default.
func setting(name, byDefault string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return byDefault
}

// formatted checks that gofmt would not change any file.
func formatted(r *run) error {
	var bad []string
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != "." && strings.HasPrefix(d.Name(), ".") && path != r.root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		is, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if should, err := format.Source(is); err != nil || !bytes.Equal(is, should) {
			bad = append(bad, strings.TrimPrefix(path, r.root+string(filepath.Separator)))
		}
		return nil
	})
	if len(bad) > 0 {
		err = errors.Join(err, fmt.Errorf("not as gofmt writes it: %s", strings.Join(bad, " ")))
	}
	return err
}

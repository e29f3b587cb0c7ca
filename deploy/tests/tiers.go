package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tiers are the three.
var tiers = []tier{
	{"test", "needs Go and nothing else", testParts},
	{"merge", "what must pass beside test before a change lands", mergeParts},
	{"night", "the hours", nightParts},
}

var testParts = []part{
	{name: "format", what: "gofmt on all files", do: formatted},
	{name: "vet", what: "go vet on the library and the daemon", do: func(r *run) error { return r.command(".", nil, "go", "vet", "./...") }},
	{name: "tests", what: "go test ./...: the library and the daemon, against recorded answers of OTP", do: func(r *run) error {
		return r.goTest(".", "test", "-vet=off", "./...")
	}},
	{name: "race", what: "the race detector on the lock-free parts, and on races in package node", needs: []string{compiler}, do: quickRace},
}

// lockFree are the packages that everything concurrent rests on.
var lockFree = strings.Fields(`./internal/bias ./internal/fiber ./internal/inbox ./internal/executor ./node/internal/promise ./node/internal/outbox
	./node/internal/flush ./node/internal/peers ./node/internal/admission ./node/internal/runner ./node/internal/process ./node/internal/table`)

func quickRace(r *run) error {
	if err := r.goTest(".", "test", append([]string{"-race", "-vet=off"}, lockFree...)...); err != nil {
		return err
	}
	return r.goTest(".", "test", "-race", "-vet=off", "-run", "Race|Stress|Storm|Flood|Random", "./node")
}

var mergeParts = []part{
	{name: "static", what: "staticcheck and our own vet", do: static},
	{name: "386", what: "vet for a processor of 32 bits", do: func(r *run) error {
		return r.command(".", []string{"GOARCH=386"}, "go", "vet", "./...")
	}},
	{name: "portable", what: "what other systems than linux/amd64 get: without the tricks, tag actornode_portable", do: portable},
	{name: "full", what: "go test ./... with real OTP, Elixir and Python, documents that are compiled and played, longer random tests", do: func(r *run) error {
		return r.goTest(".", "merge", "-vet=off", "./...")
	}},
	{name: "race", what: "the race detector on every package that starts goroutines or holds atomics or locks", needs: []string{compiler}, do: race},
	{name: "modules", what: "bench, deploy and the modules in them: vet and tests; interop with the installed OTP", do: modules},
	{name: "attack", what: "the quick attacks on a running daemon", do: alone("attack", "./attack")},
	{name: "cluster", what: "a short cluster in containers, with some faults", needs: []string{"dockerd", "iptables"}, do: alone("cluster", "./cluster")},
}

// alone runs a package of deploy when nothing else runs: it takes all that the machine has, or measures it.
func alone(_, pattern string) func(r *run) error {
	return func(r *run) error { return r.goTest("deploy", "merge", pattern) }
}

func static(r *run) error {
	return errors.Join(r.command(".", nil, "go", "tool", "staticcheck", "./..."),
		r.command(".", nil, "go", "run", "./cmd/actornode", "vet", "./..."))
}

func portable(r *run) error {
	const tag = "-tags=actornode_portable"
	if err := r.command(".", nil, "go", "vet", tag, "./..."); err != nil {
		return err
	}
	if err := r.goTest(".", "test", tag, "-vet=off", "./mailbox", "./internal/bias", "./internal/box", "./internal/executor",
		"./internal/etfcodec", "./internal/fiber", "./wire/native"); err != nil {
		return err
	}
	return r.goTest(".", "test", tag, "-vet=off", "-run", "TestStage|TestReceive|TestCall|TestLink|TestInfo", "./node")
}

func race(r *run) error {
	packages, err := racePackages()
	if err != nil {
		return err
	}
	return r.goTest(".", "test", append([]string{"-race", "-vet=off"}, packages...)...)
}

// inside are the modules below bench and deploy.
var inside = []string{"bench/peers/grpc", "deploy/kubernetes", "deploy/grafana", "deploy/release"}

func modules(r *run) error {
	var errs []error
	for _, m := range append([]string{"bench", "deploy"}, inside...) {
		packages, err := r.packages(m)
		if err == nil {
			err = r.goTest(m, "merge", packages...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// packages lists those of a module that other parts do not run.
func (r *run) packages(module string) ([]string, error) {
	var out bytes.Buffer
	if err := r.start(module, nil, &out, "go", "list", "./..."); err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", module, err, lastLines(out.String(), 20))
	}
	var found []string
	for p := range strings.FieldsSeq(out.String()) {
		switch short(p) {
		case "deploy/attack", "deploy/cluster", "deploy/storm", "deploy/faults":
		default:
			found = append(found, p)
		}
	}
	return found, nil
}

var nightParts = []part{
	{name: "full", what: "go test ./... at the tier night: everything, at full length", do: func(r *run) error {
		return r.goTest(".", "night", "-vet=off", "./...")
	}},
	{name: "race", what: "what merge runs under the race detector, at its full length", needs: []string{compiler}, do: func(r *run) error {
		packages, err := racePackages()
		if err != nil {
			return err
		}
		return r.goTest(".", "merge", append([]string{"-race", "-vet=off"}, packages...)...)
	}},
	{name: "fuzz", what: "every fuzz target, FUZZTIME (60s) each", do: func(r *run) error {
		return r.command(".", nil, ".ci/fuzz", setting("FUZZTIME", "60s"))
	}},
	{name: "sessions", what: "STEPS (1000000) random steps of peers, SEED to repeat", do: func(r *run) error {
		return r.goTest("deploy", "night", "-count=1", "-run", "TestSessions", "./attack/internal/session",
			"-steps="+setting("STEPS", "1000000"), "-seed="+setting("SEED", "0"))
	}},
	{name: "storm", what: "1,000 random sequences over OTP nodes and ours, SEED to repeat; meshes of 50 and 12", needs: []string{"erl"}, do: func(r *run) error {
		return r.goTest("deploy", "night", "-count=1", "./storm", "-storm.sequences="+setting("SEQUENCES", "1000"),
			"-storm.seed="+setting("SEED", "0"), "-storm.mesh")
	}},
	{name: "interop", what: "real OTP 25, 27 and 29 judge the node, and clusters of them and of 23", needs: []string{"erl", "debootstrap"}, do: interop},
	{name: "attack", what: "every attack, with a table of what came out", do: func(r *run) error {
		return r.goTest("deploy", "night", "-count=1", "-run", "TestAttacks", "./attack", "-attack.all")
	}},
	{name: "cluster", what: "the compose file in containers, through every fault; writes deploy/RESULTS.md", needs: []string{"dockerd", "iptables"}, do: func(r *run) error {
		return r.goTest("deploy", "night", "-count=1", "-run", "TestCluster", "./cluster", "-cluster.all")
	}},
	{name: "release", what: "all targets built twice; the packages in a clean Debian", needs: []string{"debootstrap"}, do: func(r *run) error {
		return r.goTest("deploy/release", "night", "-count=1", "./...", "-release.targets=all", "-release.install")
	}},
	{name: "cross", what: "vet for Windows and macOS", do: func(r *run) error {
		return errors.Join(r.command(".", []string{"GOOS=windows"}, "go", "vet", "./..."), r.command(".", []string{"GOOS=darwin"}, "go", "vet", "./..."))
	}},
	{name: "smoke", what: "every bench with tiny parameters, beside its peers", do: func(r *run) error {
		return r.command(".", nil, "go", "run", "./bench", "compare", "quick=1")
	}},
	{name: "soak", what: "ten minutes of messages and faults between three nodes", do: func(r *run) error {
		return r.command(".", nil, "go", "run", "./bench", "soak")
	}},
	{name: "faults", what: "planted faults, and which test catches each; writes the table in docs/tests.md", do: func(r *run) error {
		return r.command(".", nil, "go", "run", "./deploy/faults", "-table", "docs/tests.md")
	}},
	{name: "shake", what: "the packages of make test 20 times on a busy machine, with 1, 2 and 8 processors", do: func(r *run) error {
		return r.command(".", nil, "go", "run", "./deploy/tests", "shake")
	}},
}

func interop(r *run) error {
	var roots bytes.Buffer
	if err := r.start(".", nil, &roots, "bash", "-c", "deploy/interop/releases 27=trixie 29=sid 23=bullseye 2>/dev/null"); err != nil {
		return err
	}
	return r.goTestIn("deploy", []string{"ACTORNODE_TESTS=night", "ACTORNODE_OTP_ROOTS=" + strings.TrimSpace(roots.String())},
		"-count=1", "-run", "TestInterop", "./interop")
}

// setting is a variable of the environment, or what it is by default.
func setting(name, byDefault string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return byDefault
}

// formatted checks that each file reads as gofmt writes it.
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

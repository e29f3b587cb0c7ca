package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Tier is a tier of tests. A higher one includes the lower ones.
type Tier int

// The tiers, by the make target that runs them.
const (
	Test  Tier = iota // make test, and plain go test: needs only Go, and takes minutes
	Merge             // make merge: what must pass before a change lands; uses programs such as erl
	Night             // make night: hours
)

var tierNames = [...]string{"test", "merge", "night"}

// String returns the name of the tier: test, merge or night.
func (r Tier) String() string { return tierNames[r] }

// At returns the current tier: the one named by the environment variable ACTORNODE_TESTS, or Test if it is not set. It
// panics if the variable names no tier.
func At() Tier {
	name := os.Getenv("ACTORNODE_TESTS")
	if name == "" {
		return Test
	}
	for i, n := range tierNames {
		if n == name {
			return Tier(i)
		}
	}
	panic(fmt.Sprintf("ACTORNODE_TESTS=%s: want test, merge or night", name))
}

// From skips a test below a tier. what describes the needs of the test, such as "OTP nodes" or "a minute"; the tool that
// runs the tiers counts skipped tests by it.
func From(t testing.TB, least Tier, what string) {
	t.Helper()
	if At() < least {
		t.Skipf("left to make %s: %s", least, what)
	}
}

// whole maps a program to the product it is part of, for From; other programs stand for themselves.
var whole = map[string]string{
	"erl": "real OTP", "erlc": "real OTP", "escript": "real OTP", "elixir": "Elixir",
	"erl_call": "ei of OTP", "javac": "JInterface of OTP", "python3": "Python",
	"prometheus": "Prometheus", "promtool": "Prometheus", "docker": "Docker",
}

// Program skips a test below a tier, or if no program with that name is on the PATH. Otherwise it returns the path of the
// program.
func Program(t testing.TB, least Tier, name string) (path string) {
	t.Helper()
	what, ok := whole[name]
	if !ok {
		what = name
	}
	From(t, least, what)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("not installed: %s", name)
	}
	return path
}

// By returns the first of its arguments in make test, the second in make merge and the
// third in make night.
func By[T any](test, merge, night T) T { return [...]T{test, merge, night}[At()] }

//go:build unix

package contest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
)

// asSystem in the environment makes the test program the system that competes.
const asSystem = "CONTEST_TEST_SYSTEM"

func TestMain(m *testing.M) {
	if os.Getenv(asSystem) != "" {
		os.Exit(sampleSystem().Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// sampleSystem has fib, which works, and latency, whose check fails.
func sampleSystem() contract.System {
	params := []contract.Param{contract.Int("n", 5), contract.Int("roundtrips", 5), contract.Style()}
	ops := func(p contract.Params) int { return p.Int("n") }
	return contract.System{Name: "sample", Version: "v1", Benches: []contract.Bench{
		{Name: "fib", Params: params, Ops: ops, Run: func(_ contract.Params, m *contract.Meter) error {
			m.Start()
			m.Stop()
			return nil
		}},
		{Name: "latency", Params: params, Ops: ops, Run: func(contract.Params, *contract.Meter) error {
			return errors.New("lost")
		}},
	}}
}

// play runs Main in a bench folder with these peers.
func play(t *testing.T, scripts map[string]string, args ...string) (dir string, status int, stdout, stderr string) {
	t.Helper()
	t.Setenv(asSystem, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each run under -race takes a second more
	dir = t.TempDir()
	for name, script := range scripts {
		peer(t, filepath.Join(dir, "peers"), name, script)
	}
	var out, errs bytes.Buffer
	status = Main(t.Context(), sampleSystem(), dir, args, &out, &errs)
	return dir, status, out.String(), errs.String()
}

func TestContest(t *testing.T) {
	scripts := map[string]string{"erlang": goodPeer, "absent": "exit 3", "other": goodPeer}
	dir, status, out, errs := play(t, scripts, "rounds=2", "benches=fib")
	require.Equal(t, contract.Done, status, errs)
	assert.Contains(t, out, "not installed")
	assert.Contains(t, out, "targets met.")
	var systems []string
	for line := range strings.Lines(errs) {
		if rest, ok := strings.CutPrefix(line, "round 1/2  fib  "); ok {
			systems = append(systems, rest[:strings.Index(rest, "  ")])
		}
	}
	assert.Equal(t, []string{"erlang", "sample actor", "sample process", "sample coroutine", "other"}, systems)
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	require.NoError(t, err)
	assert.Contains(t, string(page), "| fib |")
	assert.Contains(t, string(page), "- erlang: 1\n")
	assert.NotContains(t, string(page), dir)
	assert.FileExists(t, filepath.Join(dir, chartFile))
}

// The same program at an earlier commit runs beside today's, and what is slower is named.
func TestBefore(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir, status, out, errs := play(t, nil, "rounds=2", "benches=fib", "styles=actor,process", "before="+self)
	require.Equal(t, contract.Done, status, errs)
	assert.Contains(t, out, "× before")
	assert.Contains(t, out, "before actor")
	assert.Contains(t, out, "of 2 rows are slower than 0.97 of before.")
	assert.Contains(t, errs, "round 2/2  fib  before process  ")
	assert.NoFileExists(t, filepath.Join(dir, pageFile))
	_, status, _, errs = play(t, nil, "benches=fib", "before=/nowhere/bench")
	assert.Equal(t, contract.Failed, status)
	assert.Contains(t, errs, "compare: before: list: ")
}

func TestSlowerThanBefore(t *testing.T) {
	took := func(ns ...float64) (c cell) {
		for _, v := range ns {
			c.runs = append(c.runs, contract.Result{NsPerOp: v})
		}
		return c
	}
	b := newBoard([]Case{{Bench: "fib"}, {Bench: "ring"}}, []Entrant{
		{Name: "before actor", style: "actor", earlier: true}, {Name: "x actor", style: "actor"}, {Name: "x process", style: "process"},
	}, 3)
	b.cells[0] = []cell{took(100, 100, 90), took(104, 102, 200), took(900, 900, 900)}
	b.cells[1] = []cell{took(100, 100, 90), took(101, 50, 91), {}}
	assert.Equal(t, "1 of 2 rows are slower than 0.97 of before.\n  0.96  fib  x actor", b.slower())
}

func TestContestGoesOnAfterAFailure(t *testing.T) {
	dir, status, out, errs := play(t, map[string]string{"erlang": goodPeer}, "rounds=1", "benches=fib,latency", "styles=actor")
	assert.Equal(t, contract.Failed, status)
	assert.Contains(t, errs, "failed:\nsample actor: latency: exit status 1: latency: check failed: lost\n")
	assert.Contains(t, out, "failed")
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	require.NoError(t, err)
	assert.Contains(t, string(page), "- `sample actor: latency: exit status 1: latency: check failed: lost`")
}

func TestContestWithAPeerThatDoesNotBuild(t *testing.T) {
	_, status, out, errs := play(t, map[string]string{"erlang": "exit 1"}, "rounds=1", "benches=fib")
	assert.Equal(t, contract.Failed, status)
	assert.Contains(t, errs, "erlang: build: exit status 1")
	assert.Contains(t, out, "sample actor")
}

func TestQuickWritesNothing(t *testing.T) {
	for _, arg := range []string{"quick=1", "write=0"} {
		dir, status, out, errs := play(t, map[string]string{"erlang": goodPeer}, arg, "benches=fib", "rounds=1")
		require.Equal(t, contract.Done, status, errs)
		assert.Contains(t, out, "fib")
		assert.NoFileExists(t, filepath.Join(dir, pageFile))
		assert.NoFileExists(t, filepath.Join(dir, chartFile))
	}
}

func TestWrongCommandLines(t *testing.T) {
	for arg, want := range map[string]string{
		"rounds=0":     "rounds wants a whole number of at least 1",
		"quick=2":      "quick wants a whole number from 0 to 1",
		"round=1":      `unknown parameter "round" (allowed: rounds=5 benches= peers= styles= quick=0 timeout=120 write=1 before=)`,
		"benches=fibs": `benches: unknown "fibs" (there are: threadring, latency,`,
		"peers=a,b":    `peers: unknown "b" (there are: a, erlang)`,
		"styles=both":  `styles: unknown "both" (there are: actor, process, coroutine, active)`,
	} {
		_, status, out, errs := play(t, map[string]string{"erlang": goodPeer, "a": goodPeer}, arg)
		assert.Equal(t, contract.Misused, status, arg)
		assert.Contains(t, errs, want, arg)
		assert.Empty(t, out, arg)
	}
}

func TestSetup(t *testing.T) {
	s, err := newSetup([]string{"benches=ring,fib", "styles=process", "peers=b"}, []string{"a", "b"})
	require.NoError(t, err)
	var names []string
	for _, c := range s.cases {
		names = append(names, c.name())
	}
	assert.Equal(t, []string{"ring n=1000", "ring n=100000", "fib"}, names)
	assert.Equal(t, []string{"process"}, s.styles)
	assert.Equal(t, []string{"b"}, s.peers)
	s, err = newSetup([]string{"quick=1", "rounds=9"}, nil)
	require.NoError(t, err)
	assert.Equal(t, 1, s.rounds)
	assert.False(t, s.write)
	assert.Len(t, s.cases, len(Smoke()))
	assert.Empty(t, s.peers)
}

func TestAnInterruptedContestWritesNothing(t *testing.T) {
	t.Setenv(asSystem, "1")
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	var out, errs bytes.Buffer
	assert.Equal(t, contract.Failed, Main(ctx, sampleSystem(), dir, []string{"benches=fib"}, &out, &errs))
	assert.Equal(t, "compare: nothing is written: interrupted\n", errs.String())
	assert.NoFileExists(t, filepath.Join(dir, pageFile))
}

func TestFolderIsFoundFromBelow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, below := range []string{"a/b", "bench/peers/tcp"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, below), 0o755))
	}
	for _, module := range []string{"", "bench"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, module, "go.mod"), []byte("module x\n"), 0o644))
	}
	for _, from := range []string{"", "a/b", "bench", "bench/peers/tcp"} {
		t.Chdir(filepath.Join(dir, from))
		folder, err := Folder()
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, "bench"), folder, from)
	}
}

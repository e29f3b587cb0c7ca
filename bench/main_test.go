package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contest"
	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/internal/testkit"
)

// asProgram in the environment makes the test program act as the bench program, which a comparison runs and which is
// the far end of a bench.
const asProgram = "ACTORNODE_BENCH_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// asOurselves lets this test program, when it is started, act as the bench program.
func asOurselves(t *testing.T) {
	t.Setenv(asProgram, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each run under -race takes a second more
}

func TestTable(t *testing.T) { require.NoError(t, system().Validate()) }

func TestEveryBenchIsInTheSmokeRun(t *testing.T) {
	smoke := map[string]bool{}
	for _, c := range contest.Smoke() {
		smoke[c.Bench] = true
	}
	for _, b := range system().Benches {
		assert.True(t, smoke[b.Name], "enter %s in contest.Smoke", b.Name)
	}
}

// Every bench, in this process: under -race, its goroutines are watched.
func TestBenches(t *testing.T) {
	asOurselves(t)
	for _, c := range contest.Smoke() {
		for _, style := range []string{contract.Actor, contract.Process} {
			if !system().Has(c.Bench, style) {
				continue
			}
			t.Run(c.Bench+" "+style, func(t *testing.T) {
				args := append([]string{c.Bench}, c.Params...)
				if style == contract.Process {
					args = append(args, "style="+style)
				}
				var out, errs bytes.Buffer
				require.Equal(t, contract.Done, command(args, &out, &errs), errs.String())
				r, err := contract.ParseResult(out.Bytes(), c.Bench)
				require.NoError(t, err)
				assert.Equal(t, "actornode", r.System)
				assert.NotEmpty(t, r.Version)
			})
		}
	}
}

// The smallest and odd values, where an off-by-one would hang or fail the check.
func TestEdges(t *testing.T) {
	asOurselves(t)
	for _, line := range []string{
		"threadring n=1 hops=1",
		"ring n=1 tokens=1 passes=1",
		"ring n=2 tokens=9 passes=5",
		"ring n=3 tokens=3 passes=1000",
		"mailbox senders=1 each=1",
		"flow pairs=1 messages=1 window=1",
		"flow pairs=20 messages=10 window=5",
		"flow pairs=1 messages=11 window=5",
		"chameneos creatures=2 meetings=1",
		"chameneos creatures=3 meetings=1",
		"big n=1 each=10",
		"fib n=0",
		"fib n=1",
		"nqueens size=4 workers=1 threshold=0",
		"nqueens size=4 workers=20 threshold=16",
		"spawn n=1",
		"mixed rings=1 size=1 token=1 repeats=1 number=1",
		"mixed rings=1 size=2 token=1 repeats=3 number=8",
		"copy messages=1",
		"blocking handlers=1 sleep_ms=1 times=1",
		"coop calls=1 depth=0", "coop calls=100 style=active",
		"remote_latency roundtrips=1",
		"remote_throughput messages=1 size=8",
		"remote_throughput messages=5 size=200000 senders=7",
		"remote_throughput messages=100 size=9 senders=3",
		"remote_spawn spawns=1",
		"remote_call calls=1",
		"remote_call calls=7 callers=9",
		"remote_bulk mib=3 messages=2",
		"remote_latency roundtrips=3 proto=erlang",
		"remote_throughput messages=100 senders=3 proto=erlang",
		"remote_spawn spawns=2 proto=erlang",
		"remote_bulk mib=1 proto=erlang",
		"remote_idle nodes=3",
		"remote_cpu roundtrips=1 rate=1",
		"remote_cpu roundtrips=100 rate=1000000 spin=off",
		"remote_cpu roundtrips=3 spin=on proto=erlang",
	} {
		for _, style := range []string{contract.Actor, contract.Process} {
			var out, errs bytes.Buffer
			args := append(strings.Fields(line), "style="+style)
			require.Equal(t, contract.Done, command(args, &out, &errs), "%v: %s", args, &errs)
		}
	}
}

// Calls can all be suspended at the same time if they do not wait in processes of their own.
func TestCoopSuspendsAll(t *testing.T) {
	for _, style := range []string{contract.Actor, contract.Active} {
		var out, errs bytes.Buffer
		args := []string{"coop", "calls=100", "suspended=all", "style=" + style}
		require.Equal(t, contract.Done, command(args, &out, &errs), "%v: %s", args, &errs)
		require.Contains(t, out.String(), `"bytes_per_activation"`)
	}
	var out, errs bytes.Buffer
	require.Equal(t, contract.Failed, command([]string{"coop", "suspended=all", "style=process"}, &out, &errs))
	require.Contains(t, errs.String(), "the call that it has suspended last")
}

// Parameters that make no sense are refused before anything runs.
func TestParametersAreBounded(t *testing.T) {
	for _, line := range []string{
		"threadring n=0", "ring tokens=0", "mailbox each=-1", "flow window=0", "chameneos creatures=1",
		"fib n=-1", "fib n=41", "nqueens size=3", "nqueens size=17", "nqueens threshold=-1", "coop depth=-1", "blocking handlers=0",
		"spawn n=many", "big style=both", "remote_latency proto=smoke", "remote_throughput size=7", "remote_spawn spawns=0",
		"remote_call callers=0",
		"remote_cpu rate=0", "remote_cpu spin=maybe",
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, contract.Misused, command(strings.Fields(line), &out, &errs), line)
		assert.Empty(t, out.String(), line)
	}
}

func TestProgramExitStatus(t *testing.T) {
	asOurselves(t)
	for _, test := range []struct {
		args   string
		status int
		stderr string
	}{
		{"list", contract.Done, ""},
		{"nope", contract.Misused, `unknown bench "nope"`},
		{"", contract.Misused, "BENCH [key=value ...]"},
		{"compare rounds=none", contract.Misused, "rounds wants a whole number"},
		{"compare benches=nope", contract.Misused, `unknown "nope"`},
	} {
		c := exec.Command(os.Args[0], strings.Fields(test.args)...)
		var errs bytes.Buffer
		c.Stderr = &errs
		c.Run() // the status says it
		assert.Equal(t, test.status, c.ProcessState.ExitCode(), test.args)
		assert.Contains(t, errs.String(), test.stderr, test.args)
	}
}

// A peer reports what it lacks, and with which status.
func TestPeersWithoutTheirTools(t *testing.T) {
	sh, dirname := testkit.Program(t, testkit.Merge, "sh"), testkit.Program(t, testkit.Merge, "dirname")
	path := t.TempDir()
	require.NoError(t, os.Symlink(dirname, filepath.Join(path, "dirname")))
	for peer, says := range map[string]string{
		"channels":   "run: go is not on the PATH\n",
		"protoactor": "run: go is not on the PATH\n",
		"tcp":        "run: go is not on the PATH\n",
		"erlang":     "run: erl is not on the PATH; install Erlang/OTP 25 or later\n",
	} {
		c := exec.Command(sh, filepath.Join("peers", peer, "run"), "list")
		c.Env = []string{"PATH=" + path}
		output, _ := c.CombinedOutput() // the status says it
		assert.Equal(t, contract.NoTooling, c.ProcessState.ExitCode(), peer)
		assert.Equal(t, says, string(output))
	}
}

// A peer in Go whose modules are out of reach says in a line which one is, with the status of missing tools.
func TestPeersWithoutTheirModules(t *testing.T) {
	sh := testkit.Program(t, testkit.Merge, "sh")
	for peer, module := range map[string]string{
		"protoactor": "github.com/asynkron/protoactor-go", "grpc": "github.com/stretchr/testify",
	} {
		c := exec.Command(sh, filepath.Join("peers", peer, "run"), "build")
		c.Env = append(os.Environ(), "GOPROXY=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
		output, _ := c.CombinedOutput() // the status says it
		assert.Equal(t, contract.NoTooling, c.ProcessState.ExitCode(), peer)
		assert.Regexp(t, `^run: `+regexp.QuoteMeta(module)+`@v\S+ cannot be downloaded\n$`, string(output))
	}
}

// The smoke run itself: this node, and each peer whose tools are installed. In make merge it has three benches and the
// peers in Go.
func TestCompareQuick(t *testing.T) {
	testkit.From(t, testkit.Merge, "peers, which are compiled")
	asOurselves(t)
	cases := contest.Smoke()
	args := []string{"compare", "quick=1"}
	all := testkit.By(false, false, true)
	if !all {
		few := []string{"threadring", "remote_latency", "spawn"}
		cases = slices.DeleteFunc(cases, func(c contest.Case) bool { return !slices.Contains(few, c.Bench) })
		args = append(args, "benches="+strings.Join(few, ","), "peers=channels,tcp")
	}
	var out, errs bytes.Buffer
	require.Equal(t, contract.Done, command(args, &out, &errs), errs.String())
	fields := func(system string) (rows [][]string) {
		for line := range strings.Lines(out.String()) {
			if _, rest, ok := strings.Cut(line, " "+system+" "); ok {
				rows = append(rows, strings.Fields(rest))
			}
		}
		return rows
	}
	assert.Len(t, fields("channels"), len(cases))
	require.Len(t, fields("tcp"), len(cases))
	for i, c := range cases {
		remote := c.Bench == "remote_latency" || c.Bench == "remote_throughput" || c.Bench == "remote_cpu"
		assert.Equal(t, remote, fields("tcp")[i][0] != "-", c.Bench)
	}
	if !all {
		return
	}
	if _, err := exec.LookPath("erl"); err != nil {
		assert.Contains(t, out.String(), "not installed")
		return
	}
	require.Len(t, fields("erlang"), len(cases))
	assert.NotEqual(t, "-", fields("erlang")[0][0], "erlang has threadring")
}

// An ablation builds the program with and without a trick, and has a row for each bench.
func TestAblationQuick(t *testing.T) {
	testkit.From(t, testkit.Night, "two builds of all that the bench program has in it")
	if testkit.Race {
		t.Skip("what it runs is built without the race detector")
	}
	var out, errs bytes.Buffer
	args := []string{"ablation", "quick=1", "tricks=fiber", "benches=threadring,latency"}
	require.Zero(t, command(args, &out, &errs), errs.String())
	require.Regexp(t, `(?s)^without .*\nfiber +threadring n=5 hops=1000 style=coroutine +[0-9.]+ .*\nfiber +latency`, out.String())
}

func TestAblationOfNothing(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, contract.Misused, command([]string{"ablation", "tricks=magic"}, &out, &errs))
	require.Contains(t, errs.String(), `tricks: unknown "magic"`)
}

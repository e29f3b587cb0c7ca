package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

// A stack is counted as the behaviour whose method, or as the function that the runtime of processes has called.
func TestStackCode(t *testing.T) {
	const m = "github.com/actornode/actornode/"
	turn := []string{m + "internal/sched/executor.(*Worker).loop", m + "internal/sched/executor.(*Worker).run",
		m + "node.(*actor).Turn"}
	run := []string{m + "internal/kernel/runner.(*goroutine).run", m + "node.function.Run"}
	for _, c := range []struct {
		outer, calls []string
		code         string
		process      bool
		leaf         string
	}{
		{turn, []string{"main.(*keeper).Receive", "main.grow", "runtime.mallocgc"}, "*main.keeper", true, "main.grow"},
		{turn, []string{"main.slow.Receive", "time.Sleep"}, "main.slow", true, "time.Sleep"},
		{turn, []string{m + "node/genserver.(*server[...]).Receive", "example.org/a.b/shop.(*till).HandleCall.func2", "crypto/sha256.block"},
			"*shop.till", true, "crypto/sha256.block"},
		{turn, []string{m + "node.ActorFunc.Receive", "main.main.func1"}, "main.main", true, "main.main.func1"},
		{turn, []string{m + "supervisor.(*Supervisor).Receive", "runtime.mallocgc"}, "*supervisor.Supervisor", true, ""},
		{run, []string{"main.worker.func1", m + "node.(*Process).Receive", "runtime.gopark"}, "main.worker", true, "main.worker.func1"},
		{nil, []string{"main.goleak.Receive.func1", "runtime.gopark"}, "main.goleak", false, "main.goleak.Receive.func1"},
		{nil, []string{"runtime.gcBgMarkWorker", "runtime.gcDrain"}, "(Go's runtime)", false, ""},
		{nil, []string{m + "internal/kernel/peers.(*reader).run", "syscall.read"}, "(the node)", false, ""},
		{nil, nil, "(Go's runtime)", false, ""},
	} {
		code, process, leaf := stackCode(append(c.outer[:len(c.outer):len(c.outer)], c.calls...))
		assert.Equal(t, c.code, code, "%v", c.calls)
		assert.Equal(t, c.process, process, "%v", c.calls)
		assert.Equal(t, c.leaf, leaf, "%v", c.calls)
	}
}

// burner is a behaviour that uses the processor until there is something in over. It calls nothing meanwhile.
type burner struct {
	inside chan<- struct{}
	over   <-chan struct{}
}

func (b *burner) Receive(*node.Context, any) error {
	b.inside <- struct{}{}
	for len(b.over) == 0 {
	}
	return nil
}

// A profile is written to a file for go tool pprof, and summed up by behaviour, with names.
func TestProfileCommand(t *testing.T) {
	s := newCLITest(t)
	n := s.hosted(t, "go@127.0.0.1", admin.Config{})
	inside, over := make(chan struct{}), make(chan struct{}, 1)
	defer func() { over <- struct{}{} }()
	pid, err := n.SpawnOpt(node.Options{Name: "hot"}, &burner{inside, over})
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, 1))
	<-inside
	file := filepath.Join(t.TempDir(), "it.pprof")
	for _, args := range []string{"goroutine", "heap", "cpu --for 500ms"} {
		code, out := s.run(t, "profile "+args+" --json --limit 1000 -o "+file)
		require.Equal(t, exitOK, code, out)
		var sum profileSummary
		require.NoError(t, json.Unmarshal([]byte(out), &sum), out)
		assert.Equal(t, file, sum.File)
		if sum.Kind == "heap" {
			assert.Equal(t, "bytes", sum.Unit)
		} else {
			i := slices.IndexFunc(sum.Top, func(r profileRow) bool { return r.Code == "*command.burner" })
			require.GreaterOrEqual(t, i, 0, "%s: %+v", args, sum)
			assert.True(t, sum.Top[i].Process)
			assert.Equal(t, []string{"hot"}, sum.Top[i].Names)
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = profile.ParseData(b)
		require.NoError(t, err, args)
	}
	code, out := s.run(t, "profile goroutine --limit 1")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, `^goroutine profile of go@127.0.0.1: [0-9,]+\nGOROUTINE +SHARE +CODE +NAMES +MOST IN *\n`, out)
	_, out = s.run(t, "profile trace --for 10ms -o "+file)
	assert.Contains(t, out, "go tool trace "+file)
	code, out = s.run(t, "profile block")
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "Error: profile block: want cpu, heap, goroutine, trace\n", out)
	code, _ = s.run(t, "profile trace")
	assert.Equal(t, exitUsage, code)
}

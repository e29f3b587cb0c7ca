package command

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// callsOn is an Actor that calls the process that it is sent, and never answers.
func callsOn(c *node.Context, msg any) error {
	if to, ok := msg.(node.Dest); ok {
		_, err := node.Call[bool](c.Context(), c, to, 1)
		return err
	}
	return nil
}

// ticks returns an Actor that does f every millisecond.
func ticks(f func(c *node.Context) error) node.Actor {
	return node.ActorFunc(func(c *node.Context, _ any) error {
		if _, err := c.SendAfter(time.Millisecond, c.Self(), 1); err != nil {
			return err
		}
		return f(c)
	})
}

// quietActor does nothing.
type quietActor struct{}

func (quietActor) Receive(*node.Context, any) error { return nil }

// examined runs doctor and returns its findings by name.
func (s *cliTest) examined(t *testing.T, flags string) (code exit, found map[string][]finding) {
	t.Helper()
	code, out := s.run(t, "doctor --json "+flags)
	var d diagnosis
	line, _, _ := strings.Cut(out, "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &d), out)
	found = make(map[string][]finding)
	for _, f := range d.Findings {
		found[f.Name] = append(found[f.Name], f)
		assert.Equal(t, node.Atom("go@127.0.0.1"), f.Node)
		assert.NotContains(t, f.Look, "  ")
	}
	return code, found
}

// Nothing is found in a healthy node; of several incidents each is found, with evidence.
func TestDoctor(t *testing.T) {
	s := newCLITest(t)
	n := s.hosted(t, "go@127.0.0.1", admin.Config{})
	testkit.Until(t, func() (said string) { // on a busy machine handlers of a healthy node may take long
		code, said := s.run(t, "doctor --for 200ms --no-profile")
		if code == exitOK && said == "0 findings; examined: go@127.0.0.1\n" {
			return ""
		}
		return said
	})

	spawn := func(name node.Atom, a node.Actor, first ...any) node.PID {
		t.Helper()
		pid, err := n.SpawnOpt(node.Options{Name: name}, a)
		require.NoError(t, err)
		for _, msg := range first {
			require.NoError(t, n.Send(pid, msg))
		}
		return pid
	}
	over, inside := make(chan struct{}), make(chan struct{}, 10)
	t.Cleanup(func() { close(over) }) // before the node stops
	left := spawn("left", node.ActorFunc(callsOn))
	spawn("right", node.ActorFunc(callsOn), left)
	require.NoError(t, n.Send(left, node.Atom("right")))
	hangs := node.ActorFunc(func(*node.Context, any) error { inside <- struct{}{}; <-over; return nil })
	spawn("slow", hangs, 1, 2)
	<-inside
	bounded, err := n.SpawnOpt(node.Options{Name: "small", Bounds: mailbox.Bounds{Messages: 2}}, hangs)
	require.NoError(t, err)
	require.NoError(t, n.Send(bounded, 1))
	require.NoError(t, n.Send(bounded, 1))
	long, err := n.SpawnOpt(node.Options{Name: "long"}, node.ProcessFunc(func(p *node.Process) error {
		<-over
		return nil
	}))
	require.NoError(t, err)
	for range longMailbox {
		require.NoError(t, n.Send(long, 1))
	}
	spawn("breeder", ticks(func(c *node.Context) error { _, err := c.Spawn(quietActor{}); return err }), 1)
	spawn("watcher", ticks(func(c *node.Context) error {
		for range 10 {
			c.Monitor(long)
		}
		return nil
	}), 1)
	gone := spawn("", quietActor{})
	n.Exit(gone, node.Kill)
	spawn("litterer", ticks(func(c *node.Context) error { _ = c.Send(gone, 1); return nil }), 1)
	spawn("leaker", ticks(func(*node.Context) error {
		for range 10 {
			go func() { <-over }() // until over
		}
		return nil
	}), 1)
	frail := supervisor.Child{ID: node.Atom("frail"), Start: func(...any) (node.Actor, error) {
		return ticks(func(*node.Context) error { return node.ExitWith(node.Atom("oops")) }), nil
	}, Options: node.Options{Name: "frail"}}
	_, err = supervisor.Start(t.Context(), n, supervisor.Spec{Intensity: 1_000_000, Children: []supervisor.Child{frail}},
		node.Options{Name: "top"})
	require.NoError(t, err)
	spawn("crasher", ticks(func(c *node.Context) error { _ = c.Send(node.Atom("frail"), 1); return nil }), 1)

	evidence := map[string]string{
		"deadlock":       "left",
		"slow-handler":   "slow",
		"full-mailbox":   "2 messages, then refuse",
		"long-mailbox":   "1,000 messages wait for long",
		"process-leak":   "command.quietActor: ",
		"monitor-leak":   "watcher",
		"dead-letters":   "no_process",
		"goroutine-leak": " goroutines, +",
		"crash-loop":     "top/frail was restarted ",
	}
	testkit.Until(t, func() string { // on a busy machine a window may see too little
		code, found := s.examined(t, "--for 500ms --no-profile")
		for name, part := range evidence {
			has := false
			for _, f := range found[name] {
				has = has || strings.Contains(f.Evidence, part)
			}
			if !has || code != exitFindings {
				return name
			}
		}
		return ""
	})
	code, said := s.run(t, "doctor --for 100ms --no-profile")
	assert.Equal(t, exitFindings, code)
	assert.Contains(t, said, "critical  deadlock  go@127.0.0.1\n")
	assert.Contains(t, said, "  look: actornode waits --cycles --node go@127.0.0.1\n")
	code, _ = s.run(t, "doctor --for 11s")
	assert.Equal(t, exitUsage, code)
}

// What a test cannot prepare in a short time: the rules alone.
func TestFindings(t *testing.T) {
	at := node.Atom("a@h")
	c := &chart{node: at, window: time.Second}
	c.before.Ready, c.after.Ready, c.after.CPUs = true, true, 2
	require.Empty(t, c.findings())

	c.before.Peers = []admin.Peer{{Name: "slow@h", State: "up", Held: true}, {Name: "brief@h", State: "up"}}
	c.after.Peers = []admin.Peer{{Name: "slow@h", State: "up", Held: true, Queue: 4096}, {Name: "brief@h", State: "up", Held: true},
		{Name: "gone@h", State: "lost", Failure: "net_tick_timeout"}, {Name: "wanted@h", State: "connecting", Wanted: true}}
	c.waits.Waits = []admin.Waiting{
		{OnName: "prog", Wait: admin.Wait{For: "reply", Name: "prog", Node: at, Time: time.Minute}},
		{OnName: "prog", Wait: admin.Wait{For: "reply", Name: "prog", Node: at, Time: 20 * time.Second}},
		{Wait: admin.Wait{For: "reply", Name: "other", Node: at, Time: time.Second}},
	}
	c.before.Memory.Total, c.after.Memory.Total = 200<<20, 400<<20
	c.cpu = &profileSummary{Total: 1_900_000_000, Took: time.Second,
		Top: []profileRow{{Code: "*main.keeper", Value: 1_800_000_000, Names: []string{"k"}}}}
	c.after.Handled = 100_000
	c.busiest.Processes = []admin.Process{{Name: "hot", Rate: 90_000}, {Name: "warm", Rate: 9000}}
	c.after.Ready, c.after.NotReady = false, "it drains"
	got := make(map[string][]string)
	for _, f := range c.findings() {
		got[f.Name] = append(got[f.Name], f.Severity+": "+f.Evidence)
	}
	assert.Len(t, got["lost-peer"], 2)
	assert.Contains(t, got["lost-peer"][0], "net_tick_timeout")
	delete(got, "lost-peer")
	assert.Equal(t, map[string][]string{
		"not-ready":     {"critical: the node is not ready: it drains"},
		"frozen-peer":   {"critical: slow@h takes too little: 4.0 KiB wait for it, and so do the senders"},
		"no-reply":      {"warning: prog (prog at a@h) does not reply: 2 wait for it, the oldest, , for 1m0s"},
		"memory-growth": {"warning: 400.0 MiB of memory, 200.0 MiB more in 1.0s"},
		"cpu":           {"warning: 1.9 of 2 processors are busy, with 100,000 messages a second: 94% *main.keeper k"},
		"hot-process":   {"info: hot (, ) handles 90,000 messages a second, of 100,000"},
	}, got)
}

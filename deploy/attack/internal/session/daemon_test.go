package session

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestMain(m *testing.M) { raw.Main(m) }

// The same peers with a daemon in a process of its own, over TCP. There it cannot be known when everything is at rest,
// so each peer makes a request to net_kernel after its actions: the effects of signals are complete when the answer
// arrives. Two connections of one peer at the same time, whose order matters, and sessions, whose time of grace runs
// here, are left to the bubble.
func TestDaemon(t *testing.T) {
	if *daemonSteps == 0 {
		t.Skip("by hand only, with -daemon-steps=1000: how long it takes depends on the machine")
	}
	seed := testkit.Seed(t)
	d := raw.Start(t, raw.Options{Cookie: cookie, Args: []string{"--grace", (tick / 2).String()}})
	f := &fuzz{seed: seed, steps: *daemonSteps, far: d, tally: &tally{kinds: make(map[string]int)}, names: make(map[wire.Atom]*proc)}
	f.net = &network{how: make(map[wire.Atom]answer)}
	f.r = rand.New(rand.NewPCG(seed, 1<<40))
	f.meet(f.r)
	before, err := d.Metric("actornode_processes")
	require.NoError(t, err)
	began := time.Now()
	var script lastLines
	f.trace = &script
	found := f.play()
	require.Empty(t, found, "seed %d, step %d\n%s\n%s", seed, f.step, script.text(), cutTo(d.Log(), 4000))
	require.True(t, d.Lives())
	t.Logf("%d steps, %.0f a second, %d links, %d signals, %d wrong frames, %d mutated", f.tally.steps,
		float64(f.tally.steps)/time.Since(began).Seconds(), f.tally.ups, f.tally.signals, f.tally.wrong, f.tally.chaos)
	require.NoError(t, d.Until(testkit.Limit, func() bool {
		n, err := d.Metric("actornode_processes")
		return err == nil && n == before
	}), "processes: there were %v", before)
	require.NoError(t, d.Stop(testkit.Limit))
}

// lastLines keeps the end of a script.
type lastLines struct{ b []byte }

func (l *lastLines) Write(b []byte) (int, error) {
	if l.b = append(l.b, b...); len(l.b) > 32<<10 {
		l.b = append([]byte(nil), l.b[16<<10:]...)
	}
	return len(b), nil
}

func (l *lastLines) text() string { return string(l.b) }

// reach opens a connection to the daemon: two goroutines carry its bytes, until either side ends it.
func (f *fuzz) reach(native bool) *end {
	addr := f.far.Erlang
	if native {
		addr = f.far.Native
	}
	tcp, err := raw.Dial(addr)
	if err != nil {
		f.fail("%v", err)
	}
	ours, theirs := pipe()
	go func() {
		_, err := io.Copy(tcp.TCPConn, theirs)
		if err == nil {
			err = tcp.CloseWrite()
		}
		if err != nil {
			tcp.Reset()
		}
	}()
	go func() {
		_, _ = io.Copy(theirs, tcp.TCPConn)
		_ = theirs.Close()
		_ = tcp.Close()
	}()
	return ours
}

// arrive waits until the node's messages are there.
func (f *fuzz) arrive(there func() bool) {
	if f.far == nil {
		synctest.Wait()
		there()
		return
	}
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(testkit.Limit); !there() && time.Now().Before(end); {
		<-tick.C
	}
}

// await is the part of settle for a daemon.
func (f *fuzz) await() {
	for _, p := range f.peers {
		for _, c := range p.conns {
			if c.stage != up || c.cut || c.slow || c.severed || c.chaos || c.over {
				continue
			}
			ref := c.ref()
			c.want(want{op: dist.OpSend, to: c.pid(9), payload: wire.Tuple{ref, wire.Atom("yes")}})
			c.frame(c.encode(&dist.Frame{Op: dist.OpSend, From: c.pid(9), Name: "net_kernel",
				Payload: wire.Tuple{calls, wire.Tuple{c.pid(9), ref}, wire.Tuple{wire.Atom("is_auth"), c.p.name}}}))
		}
	}
	waits := ""
	began := time.Now()
	defer func() {
		if time.Since(began) >= testkit.Limit {
			f.fail("the daemon takes more than %v: %s", testkit.Limit, waits)
		}
	}()
	f.arrive(func() bool {
		if !f.far.Lives() {
			f.fail("the daemon has ended: %v", errors.New(f.far.Log()))
		}
		f.drain()
		ups := 0
		for _, p := range f.peers {
			if p.link() != nil {
				ups++
			}
			if len(slices.DeleteFunc(slices.Clone(p.conns), func(c *conn) bool { return c.stage != up || c.over && !c.cut })) > 1 {
				waits = fmt.Sprint("which of ", p.conns, " stays")
				return false
			}
			for _, c := range p.conns {
				if !f.quiet(c) {
					waits = fmt.Sprintf("%s in stage %s, after %q", c, c.stage, c.doomed)
					return false
				}
			}
		}
		return ups == f.ups || f.connected() == ups || time.Since(began) > time.Second // the count may follow later
	})
	f.ups = f.connected()
}

// connected returns how many peers the daemon reports.
func (f *fuzz) connected() (n int) {
	for _, protocol := range []string{"erlang", "native"} {
		v, err := f.far.Metric(`actornode_peers{protocol="` + protocol + `"}`)
		if err == nil {
			n += int(v)
		}
	}
	return n
}

// killAll ends the processes that the peers have started, over a connected peer.
func (f *fuzz) killAll(c *conn) {
	for _, p := range f.procs {
		if p.alive {
			f.say(c, dist.Frame{Op: dist.OpSignal, From: c.pid(1), To: p.pid, Payload: wire.Atom("kill")})
			f.die(p, wire.Atom("killed"))
		}
	}
	f.settle()
}

// quiet reports whether nothing more will come on a connection.
func (f *fuzz) quiet(c *conn) bool {
	switch {
	case c.over || c.cut:
		return true
	case c.doomed != "":
		return false
	case c.slow || c.stage == opened:
		return true
	case c.stage != up:
		return len(c.in) > 0
	case c.chaos:
		return true
	}
	for _, w := range c.state.wants {
		if !w.done && !w.optional {
			return false
		}
	}
	return true
}

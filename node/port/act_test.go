//go:build unix

package port

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// everything is the program of that name, in Python.
const everything = `
port = Port()
@port.on_call
def call(body, caller):
    if body == "where": return (port.me, port.node, caller, port.init)
    op = str(body[0])
    if op == "send": port.send(*body[1:])
    elif op == "cast": port.cast(*body[1:])
    elif op == "call":
        try: return (Atom("ok"), port.call(body[1], body[2], body[3] if len(body) > 3 else 60.0))
        except Port.Error as e: return (Atom("failed"), e.reason)
    elif op == "link": port.link(body[1])
    elif op == "unlink": port._write("unlink", body[1])
    elif op == "monitor": port.monitor(body[1], body[2])
    elif op == "demonitor": port._write("demonitor", body[1])
    elif op == "signal": port.signal(*body[1:])
    elif op == "exit": port.exit(body[1])
    elif op == "trap": port.on_exit(lambda pid, reason: port.send("sink", (Atom("exit"), pid, reason)))
    return Atom("done")
@port.on_down
def down(id, object, reason): port.send("sink", (Atom("down"), id, object, reason))
@port.on_info
def info(m): port.send("sink", (Atom("info"), m))
@port.on_cast
def cast(m): port.send("sink", (Atom("cast"), m))
@port.on_stop
def stop(reason): port.send("sink", (Atom("stop"), reason))
port.run()
`

// ask asks the program for one of the actions above.
func (w *portTest) ask(pid node.PID, fields ...any) any {
	w.Helper()
	fields[0] = node.Atom(fields[0].(string))
	v, err := actortest.CallWithin[any](testkit.Limit, w.self, pid, wire.Tuple(fields))
	require.NoError(w, err)
	return v
}

func newEverything(t *testing.T, l language) (*portTest, node.PID) {
	w := newPortTest(t)
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	cfg := l.everything(t)
	cfg.Init = wire.List{1, wire.Atom("x")}
	return w, w.start(cfg, node.Options{})
}

func TestStartFrame(t *testing.T) { inEach(t, testStartFrame) }

func testStartFrame(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	v, err := node.Call[any](ctx, w.self, pid, node.Atom("where"))
	require.NoError(t, err)
	require.Equal(t, wire.Tuple{pid, w.n.Name(), w.self.Self(), wire.List{1, wire.Atom("x")}}, v)
	v, err = node.Call[any](ctx, w.n, pid, node.Atom("where"))
	require.NoError(t, err)
	require.Equal(t, wire.AtomUndefined, v.(wire.Tuple)[2]) // a plain goroutine made the call
}

func TestSends(t *testing.T) { inEach(t, testSends) }

func testSends(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	me := w.self.Self()
	for _, to := range []any{me, node.Atom("sink"), "sink", wire.Tuple{node.Atom("sink"), w.n.Name()},
		wire.List{"sink", string(w.n.Name())}, w.self.Alias()} {
		require.Equal(t, node.Atom("done"), w.ask(pid, "send", to, 7), "%v", to)
		require.Equal(t, 7, w.receive(), "%v", to)
	}
	w.ask(pid, "cast", me, wire.Atom("x"))
	body, ok := node.AsCast(w.receive())
	require.True(t, ok)
	require.Equal(t, wire.Atom("x"), body)
	w.ask(pid, "send", node.Atom("nobody"), 7) // logged
	require.Contains(t, w.log.String(), "could not send a message of the program")
	require.NoError(t, w.n.Send(pid, wire.Tuple{wire.Atom("hello"), me}))
	require.Equal(t, wire.Tuple{wire.Atom("info"), wire.Tuple{wire.Atom("hello"), me}}, w.receive())
	require.NoError(t, w.n.Send(pid, node.Cast[int]{Body: 3}))
	require.Equal(t, wire.Tuple{wire.Atom("cast"), 3}, w.receive())
}

func TestCallsByTheProgram(t *testing.T) { inEach(t, testCallsByTheProgram) }

func testCallsByTheProgram(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	double, err := w.n.SpawnOpt(node.Options{Name: "double"}, node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			switch n := r.Body.(type) {
			case int:
				r.Reply(2 * n)
			case wire.Atom:
				if n == "crash" {
					return node.ExitWith(n)
				} // otherwise no answer
			}
		}
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, "{ok,42}", format(w.ask(pid, "call", double, 21)))
	require.Equal(t, "{ok,44}", format(w.ask(pid, "call", node.Atom("double"), 22)))
	require.Equal(t, "{ok,44}", format(w.ask(pid, "call", wire.Tuple{node.Atom("double"), w.n.Name()}, 22)))
	require.Equal(t, "{failed,noproc}", format(w.ask(pid, "call", node.Atom("nobody"), 22)))
	require.Equal(t, "{failed,timeout}", format(w.ask(pid, "call", double, node.Atom("never"), 0.05)))
	require.Equal(t, "{failed,crash}", format(w.ask(pid, "call", double, node.Atom("crash"), wire.AtomUndefined)))
	require.Equal(t, "{failed,noproc}", format(w.ask(pid, "call", double, 1)))
	require.Zero(t, w.info(pid).Asks)
}

func TestMonitors(t *testing.T) { inEach(t, testMonitors) }

func testMonitors(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	spawn := func(name node.Atom) node.PID {
		p, err := w.n.SpawnOpt(node.Options{Name: name}, node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
		require.NoError(t, err)
		return p
	}
	one, two, three := spawn("one"), spawn("two"), spawn("three")
	w.ask(pid, "monitor", 1, one)
	w.ask(pid, "monitor", 2, node.Atom("two"))
	w.ask(pid, "monitor", 3, three)
	require.Equal(t, 3, w.info(pid).Monitors)
	w.ask(pid, "demonitor", 3)
	w.n.Exit(three, wire.Atom("oops"))
	w.n.Exit(one, wire.Tuple{wire.Atom("oops"), 1})
	require.Equal(t, wire.Tuple{wire.Atom("down"), 1, one, wire.Tuple{wire.Atom("oops"), 1}}, w.receive())
	w.n.Exit(two, wire.Atom("oops"))
	require.Equal(t, wire.Tuple{wire.Atom("down"), 2, wire.Tuple{wire.Atom("two"), w.n.Name()}, wire.Atom("oops")}, w.receive())
	w.ask(pid, "monitor", 4, one)
	require.Equal(t, wire.Tuple{wire.Atom("down"), 4, one, wire.Atom("noproc")}, w.receive())
	require.Zero(t, w.info(pid).Monitors)
}

func TestLinks(t *testing.T) { inEach(t, testLinks) }

func testLinks(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	w.self.Unlink(pid)
	w.self.Monitor(pid)
	spawn := func() node.PID {
		p, err := w.n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
		require.NoError(t, err)
		return p
	}
	calm, other, last := spawn(), spawn(), spawn()
	w.ask(pid, "link", calm)
	require.NoError(t, w.n.Send(calm, "end")) // with the reason normal, which ends no other process
	testkit.UntilTrue(t, func() bool { return w.info(pid).Links == 0 }, "its end, as the port sees it")
	w.ask(pid, "link", other)
	w.ask(pid, "trap")
	w.ask(pid, "signal", other, wire.Atom("oops"))
	require.Equal(t, wire.Tuple{wire.Atom("exit"), other, wire.Atom("oops")}, w.receive())
	w.ask(pid, "link", last)
	w.ask(pid, "unlink", last)
	require.Zero(t, w.info(pid).Links)
	w.n.Exit(pid, wire.Atom("whatever")) // trapped too
	require.Equal(t, wire.Tuple{wire.Atom("exit"), wire.AtomUndefined, wire.Atom("whatever")}, w.receive())
	w.n.Exit(last, wire.Atom("late"))
	require.Equal(t, "done", format(w.ask(pid, "send", w.self.Self(), 1)))
	require.Equal(t, 1, w.receive())
}

// A link that breaks ends a port that does not trap, and a port that ends breaks its
// links.
func TestLinksBreak(t *testing.T) { inEach(t, testLinksBreak) }

func testLinksBreak(t *testing.T, l language) {
	w, pid := newEverything(t, l)
	p, err := w.n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
	require.NoError(t, err)
	w.ask(pid, "link", p)
	w.n.Exit(p, wire.Atom("oops"))
	require.Equal(t, wire.Tuple{wire.Atom("stop"), wire.Atom("oops")}, w.receive())
	require.Equal(t, wire.Atom("oops"), w.reason(pid))
}

// A program that is told to stop may finish what it has begun.
func TestStop(t *testing.T) {
	inEach(t, func(t *testing.T, l language) {
		w := newPortTest(t)
		require.NoError(t, w.n.Register("sink", w.self.Self()))
		pid := w.start(l.everything(t, "last words"), node.Options{})
		w.n.Exit(pid, node.Shutdown)
		require.Equal(t, wire.Tuple{wire.Atom("stop"), node.Shutdown}, w.receive())
		require.Equal(t, []byte("last words"), w.receive())
		require.Equal(t, node.Shutdown, w.reason(pid))
	})
}

// A program may choose the exit reason.
func TestExits(t *testing.T) {
	inEach(t, func(t *testing.T, l language) {
		w, pid := newEverything(t, l)
		w.ask(pid, "exit", wire.Tuple{node.Shutdown, 7})
		require.Equal(t, wire.Tuple{wire.Atom("stop"), wire.Tuple{node.Shutdown, 7}}, w.receive())
		require.Equal(t, "{shutdown,7}", format(w.reason(pid)))
	})
}

// A program that ignores the stop gets SIGTERM, then SIGKILL.
func TestStubborn(t *testing.T) {
	for name, makes := range map[string]func(t *testing.T, g *gate) Config{
		"ignores the end of stdin": func(t *testing.T, g *gate) Config { return runs(t, "stay, with a child", g.addr()) },
		"ignores SIGTERM":          func(t *testing.T, g *gate) Config { return runs(t, "ignore SIGTERM", g.addr()) },
	} {
		t.Run(name, func(t *testing.T) {
			w, g := newPortTest(t), newGate(t)
			cfg := makes(t, g)
			cfg.Grace = 50 * time.Millisecond
			pid := w.start(cfg, node.Options{})
			g.accept()
			os := w.info(pid).OSPID
			begin := time.Now()
			w.self.Exit(pid, wire.Atom("enough"))
			require.Equal(t, wire.Atom("enough"), w.reason(pid))
			require.Greater(t, time.Since(begin), cfg.Grace, "it is never sooner, however fast the machine is")
			require.True(t, gone(os))
		})
	}
}

// A parent's order to stop is the exit reason, even if the program was already ending.
func TestStopOfTheEnding(t *testing.T) {
	w, g := newPortTest(t), newGate(t)
	pid := w.start(runs(t, "close stdout and wait", g.addr()), node.Options{})
	_, waits := g.accept()
	testkit.UntilTrue(t, func() bool { return w.info(pid).Ending }, "the end of stdout")
	w.self.Exit(pid, node.Shutdown)
	_, err := Inspect(ctx, w.self, pid) // the port has the order now
	require.NoError(t, err)
	require.NoError(t, waits.Close())
	require.Equal(t, node.Shutdown, w.reason(pid))
}

// A port that is killed takes its program along.
func TestKilled(t *testing.T) {
	w, g := newPortTest(t), newGate(t)
	pid := w.start(runs(t, "ignore SIGTERM", g.addr()), node.Options{})
	os, _ := g.accept()
	w.n.Exit(pid, node.Kill)
	require.Equal(t, node.Killed, w.reason(pid))
	testkit.UntilTrue(t, func() bool { return gone(os) }, "the end of the program")
}

// The end of a node ends the programs, whatever they do: newPortTest checks that none is left.
func TestNodeStops(t *testing.T) {
	w, g := newPortTest(t), newGate(t)
	for range testkit.By(2, 5, 20) {
		cfg := runs(t, "ignore SIGTERM, with a child", g.addr())
		cfg.Grace = 50 * time.Millisecond
		w.start(cfg, node.Options{})
		w.start(counter(t), node.Options{})
		g.accept()
	}
}

// A node that stops at once leaves nothing behind either.
func TestNodeStopsAtOnce(t *testing.T) {
	for range testkit.By(8, 40, 400) {
		t.Run("", func(t *testing.T) {
			w := newPortTest(t)
			cfg := runs(t, "read nothing")
			cfg.Grace = 10 * time.Millisecond
			w.start(cfg, node.Options{})
			for range 3 { // these may be at any stage of their start
				_, err := w.n.Spawn(New(cfg))
				require.NoError(t, err)
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	inEach(t, func(t *testing.T, l language) {
		w := newPortTest(t)
		cfg := l.answerZero(t)
		cfg.Open = 3
		pid := w.start(cfg, node.Options{})
		for range 3 {
			//actornode:ignore lostfuture only that they are open counts
			node.Async[any](w.n, pid, 1)
		}
		_, err := node.Call[any](ctx, w.n, pid, 1)
		require.ErrorIs(t, err, ErrBusy)
		require.Equal(t, 3, w.info(pid).Calls)
	})
}

func TestTooManyOfTheProgram(t *testing.T) {
	for _, name := range []string{"call", "monitor", "link"} {
		t.Run(name, func(t *testing.T) {
			w := newPortTest(t)
			cfg := runs(t, "too many", name)
			cfg.Open = 3
			var others wire.List
			for range 4 {
				p, err := w.n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
				require.NoError(t, err)
				others = append(others, p)
			}
			cfg.Init = others
			require.Equal(t, `{badframe,<<"`+name+`: more than Config.Open allows at a time">>}`, format(w.reason(w.monitored(cfg))))
		})
	}
}

// Timeouts of calls that the program has made do not fill the memory while it does not read.
func TestCallsWithoutReading(t *testing.T) {
	w := newPortTest(t)
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	cfg := runs(t, "call without reading")
	cfg.Queue, cfg.Grace, cfg.Stall = 1000, 50*time.Millisecond, node.Infinity
	pid := w.start(cfg, node.Options{})
	require.Equal(t, []byte("done"), w.receive())
	require.Less(t, w.info(pid).Waiting, 2000)
}

// Calls that their callers have given up make room.
func TestForgottenCalls(t *testing.T) {
	inEach(t, func(t *testing.T, l language) {
		w := newPortTest(t)
		cfg := l.answerZero(t)
		cfg.Open = 3
		pid := w.start(cfg, node.Options{})
		for range 3 {
			require.True(t, node.Async[any](w.n, pid, 1).Cancel())
		}
		v, err := node.Call[any](ctx, w.n, pid, 0)
		require.NoError(t, err)
		require.Equal(t, 7, v)
	})
}

// Go's nil is None in Python, and None is a nil pointer in Go; lists without elements, of Go or of Erlang, are lists.
func TestNilOfPython(t *testing.T) {
	testkit.Program(t, testkit.Merge, "python3")
	w := newPortTest(t)
	pid := w.start(python(`
port = Port()
@port.on_call
def call(body, caller): return body if body is None else repr(body)
port.run()`), node.Options{})
	for _, c := range []struct {
		body any
		want string
	}{
		{wire.List(nil), "[]"}, {[]string(nil), "[]"}, {[]any{}, "[]"}, {wire.Charlist(""), "[]"},
		{wire.List{nil, 1}, "[None, 1]"}, {wire.List{nil}, "[None]"}, {[]any{nil, wire.List(nil)}, "[None, []]"},
		{map[int]any{1: nil}, "{1: None}"}, {[]*int{nil}, "[None]"}, {[]error{nil}, "[None]"},
	} {
		got, err := node.Call[string](ctx, w.n, pid, c.body)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%#v", c.body)
	}
	for _, none := range []any{nil, (*int)(nil), wire.AtomUndefined} {
		p, err := node.Call[*int](ctx, w.n, pid, none)
		require.NoError(t, err)
		require.Nil(t, p)
		v, err := node.Call[any](ctx, w.n, pid, none)
		require.NoError(t, err)
		require.Equal(t, wire.AtomUndefined, v)
	}
}

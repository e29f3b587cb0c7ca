package growth

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/stage"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// operations lists the measured operations.
var operations = []operation{
	{name: "spawn", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		m.begin()
		spawn(t, a, n)
		m.end()
	}},
	{name: "exit", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := spawn(t, a, n)
		m.begin()
		kill(t, a, all)
		m.end()
	}},

	// Names.
	{name: "register", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := spawn(t, a, n)
		m.begin()
		register(t, a, all)
		m.end()
	}},
	{name: "find a name", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		register(t, a, spawn(t, a, n))
		m.begin()
		for i := range n {
			a.Whereis(name(i))
		}
		m.end()
	}},
	{name: "unregister", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		register(t, a, spawn(t, a, n))
		m.begin()
		for _, i := range shuffled(t, n) {
			require.NoError(t, a.Unregister(name(i)))
		}
		m.end()
	}},
	{name: "exit of one with a name", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := spawn(t, a, n)
		register(t, a, all)
		m.begin()
		kill(t, a, all)
		m.end()
	}},

	// Links, monitors, aliases, timers of one process, or on one.
	{name: "link", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all, h := spawn(t, a, n), nodetest.NewProbe(t, a)
		m.begin()
		for _, p := range all {
			h.Link(p)
		}
		m.end()
	}},
	{name: "unlink", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all, h := spawn(t, a, n), nodetest.NewProbe(t, a)
		for _, p := range all {
			h.Link(p)
		}
		m.begin()
		for _, i := range shuffled(t, n) {
			h.Unlink(all[i])
		}
		m.end()
	}},
	{name: "exit of one that is linked", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all, h := spawn(t, a, n), nodetest.NewProbe(t, a)
		h.TrapExit(true)
		for _, p := range all {
			h.Link(p)
		}
		m.begin()
		for _, i := range shuffled(t, n) {
			a.Exit(all[i], node.Kill)
		}
		for range n {
			node.ReceiveOf[node.Exited](h.Process)
		}
		m.end()
	}},
	{name: "monitor", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all, h := spawn(t, a, n), nodetest.NewProbe(t, a)
		m.begin()
		for _, p := range all {
			h.Monitor(p)
		}
		m.end()
	}},
	{name: "demonitor", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		refs := monitor(h.Process, spawn(t, a, n))
		m.begin()
		for _, i := range shuffled(t, n) {
			h.DemonitorFlush(refs[i])
		}
		m.end()
	}},
	{name: "monitor and demonitor of the same", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p, h := spawn(t, a, 1)[0], nodetest.NewProbe(t, a)
		refs := make([]node.Ref, n)
		m.begin()
		for i := range refs {
			refs[i] = h.Monitor(p)
		}
		for _, i := range shuffled(t, n) {
			h.Demonitor(refs[i])
		}
		m.end()
	}},
	{name: "alias", run: func(t *testing.T, m *meter, n int) {
		h := nodetest.NewProbe(t, nodetest.Start(t, node.Config{}))
		refs := make([]node.Ref, n)
		m.begin()
		for i := range refs {
			refs[i] = h.Alias()
		}
		for _, i := range shuffled(t, n) {
			h.Unalias(refs[i])
		}
		m.end()
	}},
	{name: "message to an alias for one", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		refs := make([]node.Ref, n)
		for i := range refs {
			refs[i] = h.AliasOnce()
		}
		m.begin()
		for _, i := range shuffled(t, n) {
			require.NoError(t, a.Send(refs[i], i))
		}
		for range n {
			h.Receive()
		}
		m.end()
	}},
	{name: "timer", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := spawn(t, a, 1)[0]
		all := make([]*node.Timer, n)
		m.begin()
		for i := range all {
			all[i] = must(a.SendAfter(time.Hour+time.Duration(i), p, i))(t)
		}
		for _, i := range shuffled(t, n) {
			all[i].Cancel()
		}
		m.end()
	}},
	{name: "monitor of the nodes", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := make([]*node.Process, n)
		for i := range all {
			all[i] = nodetest.NewProbe(t, a).Process
		}
		m.begin()
		for _, h := range all {
			h.MonitorNodes()
		}
		for _, i := range shuffled(t, n) {
			all[i].DemonitorNodes()
		}
		m.end()
	}},

	// Mailboxes.
	{name: "send", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		m.begin()
		fill(t, a, h.Process, n, "x")
		m.end()
	}},
	{name: "receive", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		m.begin()
		for range n {
			h.Receive()
		}
		m.end()
	}},
	{name: "receive of a type behind others", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		fill(t, a, h.Process, n, 1)
		m.begin()
		for range n {
			node.ReceiveOf[int](h.Process)
		}
		m.end()
	}},
	{name: "receive behind a mark", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		m.begin()
		for i := range n {
			receive := h.Mark()
			require.NoError(t, a.Send(h.Self(), i))
			must(receive(0, func(msg any) bool { return msg == i }))(t)
		}
		m.end()
	}},
	{name: "loop over messages behind others", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		fill(t, a, h.Process, n, 1)
		m.begin()
		left := n
		for range channel.Messages[int](t.Context(), h.Process) {
			if left--; left == 0 {
				break
			}
		}
		m.end()
	}},
	{name: "channel of messages behind others", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		fill(t, a, h.Process, n, 1)
		m.begin()
		all, stop := channel.Of[int](t.Context(), h.Process)
		for range n {
			<-all
		}
		stop()
		m.end()
	}},
	{name: "receive by one of many channels", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		all := make([]*channel.Input[int], n)
		m.begin()
		for i := range all {
			all[i] = channel.New[int](h)
		}
		for _, i := range shuffled(t, n) {
			require.NoError(t, all[i].Output().Send(a, i))
			require.Equal(t, i, all[i].Receive(h.Process))
		}
		for _, i := range shuffled(t, n) {
			all[i].Close(h)
		}
		m.end()
	}},
	{name: "receive by a channel behind others", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		fill(t, a, h.Process, n, "x")
		in := channel.New[int](h)
		for i := range n {
			require.NoError(t, in.Output().Send(a, i))
		}
		m.begin()
		for i := range n {
			require.Equal(t, i, in.Receive(h.Process))
		}
		m.end()
	}},
	{name: "receive past messages in a bounded mailbox", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		done := make(chan struct{})
		p := must(a.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 2*n + 10}}, node.ProcessFunc(func(p *node.Process) error {
			p.ReceiveMatch(func(msg any) bool { return msg == "begin" })
			for range n {
				node.ReceiveOf[int](p)
			}
			close(done)
			p.ReceiveMatch(func(msg any) bool { return msg == "end" })
			return nil
		})))(t)
		for range n {
			require.NoError(t, a.Send(p, "x"))
		}
		for i := range n {
			require.NoError(t, a.Send(p, i))
		}
		m.begin()
		require.NoError(t, a.Send(p, "begin"))
		testkit.Receive(t, done)
		m.end()
	}},
	{name: "send that waits for space", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		begin, done := make(chan struct{}), make(chan struct{})
		p := must(a.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
			node.ProcessFunc(func(p *node.Process) error {
				<-begin
				for range n {
					p.Receive()
				}
				close(done)
				p.Receive()
				return nil
			})))(t)
		all := make([]node.PID, n)
		for i := range all {
			all[i] = must(a.Spawn(node.ProcessFunc(func(s *node.Process) error { return s.Send(p, i) })))(t)
		}
		waiting := 0
		testkit.UntilTrue(t, func() bool {
			waiting = 0
			for _, s := range all {
				if i, err := a.Info(s); err == nil && i.Wait.For == "space" {
					waiting++
				}
			}
			return waiting >= n-2
		}, "they wait")
		m.begin()
		close(begin)
		testkit.Receive(t, done)
		m.end()
	}},

	// Calls and futures.
	{name: "call that is answered later", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h, k := nodetest.NewProbe(t, a), &keeper{}
		p := must(a.Spawn(k))(t)
		m.begin()
		all := ask(h.Process, p, n)
		answer(t, a, p, n)
		for _, f := range all {
			must(node.Await(t.Context(), h, f))(t)
		}
		m.end()
	}},
	{name: "request that is answered later", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		p := must(a.Spawn(&keeper{}))(t)
		m.begin()
		for i := range n {
			node.SendRequest(h, p, i, i)
		}
		answer(t, a, p, n)
		for range n {
			node.ReceiveOf[node.Result](h.Process)
		}
		m.end()
	}},
	{name: "call that is given up", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		all := ask(h.Process, must(a.Spawn(&keeper{}))(t), n)
		m.begin()
		for _, i := range shuffled(t, n) {
			all[i].Cancel()
		}
		m.end()
	}},
	{name: "call of one that exits", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		p := must(a.Spawn(&keeper{}))(t)
		all := ask(h.Process, p, n)
		m.begin()
		a.Exit(p, node.Kill)
		for _, f := range all {
			if _, err := node.Await(t.Context(), h, f); err == nil {
				t.Error("no error")
			}
		}
		m.end()
	}},
	{name: "future of all", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		p := must(a.Spawn(&keeper{}))(t)
		all := ask(h.Process, p, n)
		m.begin()
		f := futures.All(h, all...)
		answer(t, a, p, n)
		must(node.Await(t.Context(), h, f))(t)
		m.end()
	}},
	{name: "futures as they come", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, a)
		p := must(a.Spawn(&keeper{}))(t)
		all := ask(h.Process, p, n)
		m.begin()
		answer(t, a, p, n)
		got := 0
		for range futures.Each(h, all...) {
			got++
		}
		m.end()
		require.Equal(t, n, got)
	}},

	// Groups.
	{name: "join a group", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		all := spawn(t, a, n)
		m.begin()
		for _, p := range all {
			require.NoError(t, s.Join(t.Context(), a, "g", p))
		}
		m.end()
	}},
	{name: "leave a group", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		all := spawn(t, a, n)
		require.NoError(t, s.Join(t.Context(), a, "g", all...))
		m.begin()
		for _, i := range shuffled(t, n) {
			require.NoError(t, s.Leave(t.Context(), a, "g", all[i]))
		}
		m.end()
	}},
	{name: "exit of a member", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		all := spawn(t, a, n)
		h := nodetest.NewProbe(t, a)
		require.NoError(t, s.Join(t.Context(), a, "g", all...))
		_, _, err := s.Monitor(t.Context(), h, "g")
		require.NoError(t, err)
		m.begin()
		for _, i := range shuffled(t, n) {
			a.Exit(all[i], node.Kill)
		}
		for range n {
			node.ReceiveOf[pg.Change](h.Process)
		}
		m.end()
	}},
	{name: "leave one of many groups", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		p := spawn(t, a, 1)[0]
		for i := range n {
			require.NoError(t, s.Join(t.Context(), a, i, p))
		}
		m.begin()
		for _, i := range shuffled(t, n) {
			require.NoError(t, s.Leave(t.Context(), a, i, p))
		}
		m.end()
	}},
	{name: "leave all groups", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		p := spawn(t, a, 1)[0]
		for i := range n {
			require.NoError(t, s.Join(t.Context(), a, i, p))
		}
		m.begin()
		must(s.LeaveAll(t.Context(), a))(t)
		m.end()
	}},
	{name: "monitor a group", run: func(t *testing.T, m *meter, n int) {
		a, s := scope(t)
		h := nodetest.NewProbe(t, a)
		refs := make([]node.Ref, n)
		m.begin()
		for i := range refs {
			refs[i], _, _ = s.Monitor(t.Context(), h, "g")
		}
		for _, i := range shuffled(t, n) {
			must(s.Demonitor(t.Context(), h, refs[i]))(t)
		}
		m.end()
	}},
	{name: "exit of a member, far", run: func(t *testing.T, m *meter, n int) {
		c := clustertest.NewMemoryCluster(t)
		a, b := c.Start("a"), c.Start("b")
		s := must(pg.Start(t.Context(), a, pg.Config{}))(t)
		there := must(pg.Start(t.Context(), b, pg.Config{}))(t)
		c.Connect(a, b)
		all, h := spawn(t, a, n), nodetest.NewProbe(t, b)
		require.NoError(t, s.Join(t.Context(), a, "g", all...))
		testkit.UntilTrue(t, func() bool { return len(there.Members("g")) == n }, "the other node knows of all")
		_, _, err := there.Monitor(t.Context(), h, "g")
		require.NoError(t, err)
		m.begin()
		for _, i := range shuffled(t, n) {
			a.Exit(all[i], node.Kill)
		}
		for range n {
			node.ReceiveOf[pg.Change](h.Process)
		}
		m.end()
	}},

	// State machines.
	{name: "set a named timeout", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(machines.Start(t.Context(), a, &machine{}, node.Options{}))(t)
		m.begin()
		each(t, a, p, n, setTimeout)
		m.end()
	}},
	{name: "cancel a named timeout", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(machines.Start(t.Context(), a, &machine{}, node.Options{}))(t)
		each(t, a, p, n, setTimeout)
		m.begin()
		each(t, a, p, n, func(c *statem.Context, i int) { c.SetTimeout(statem.Named(fmt.Sprint(n-1-i)), node.Infinity, nil) })
		m.end()
	}},
	{name: "event beside named timeouts", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(machines.Start(t.Context(), a, &machine{}, node.Options{}))(t)
		each(t, a, p, n, setTimeout)
		m.begin()
		each(t, a, p, n, func(*statem.Context, int) {})
		m.end()
	}},
	{name: "timeouts set at once", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(machines.Start(t.Context(), a, &machine{}, node.Options{}))(t)
		m.begin()
		each(t, a, p, 1, func(c *statem.Context, _ int) {
			for i := range n {
				setTimeout(c, i)
			}
		})
		m.end()
	}},

	// Event managers, dead letters, traces.
	{name: "add a handler", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(event.Start(t.Context(), a, event.Config{}, node.Options{}))(t)
		m.begin()
		addHandlers(t, a, p, n)
		m.end()
	}},
	{name: "delete a handler", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(event.Start(t.Context(), a, event.Config{}, node.Options{}))(t)
		addHandlers(t, a, p, n)
		m.begin()
		for _, i := range shuffled(t, n) {
			must(event.Delete(t.Context(), a, p, handler(i), nil))(t)
		}
		m.end()
	}},
	{name: "close a subscription", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(event.Start(t.Context(), a, event.Config{}, node.Options{}))(t)
		all := make([]*event.Subscription[int], n)
		m.begin()
		for i := range all {
			all[i] = must(event.Subscribe[int](t.Context(), a, p, 1))(t)
		}
		for _, i := range shuffled(t, n) {
			all[i].Close()
		}
		require.Empty(t, must(event.Handlers(t.Context(), a, p))(t))
		m.end()
	}},
	{name: "exit of a handler's owner", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(event.Start(t.Context(), a, event.Config{}, node.Options{}))(t)
		owners := make([]*node.Process, n)
		for i := range owners {
			owners[i] = nodetest.NewProbe(t, a).Process
			require.NoError(t, event.Add(t.Context(), owners[i], p, handler(i), event.Owned(event.Func(ignore))))
		}
		m.begin()
		for _, i := range shuffled(t, n) {
			owners[i].Close(nil)
		}
		require.Empty(t, must(event.Handlers(t.Context(), a, p))(t))
		m.end()
	}},
	{name: "subscribe to dead letters", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := make([]interface{ Close() }, n)
		m.begin()
		for i := range all {
			all[i] = a.DeadLetters(1)
		}
		for _, i := range shuffled(t, n) {
			all[i].Close()
		}
		m.end()
	}},
	{name: "trace one more", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := spawn(t, a, n+1)
		tr := must(trace.Open(a, trace.Config{Processes: n + 1}, all[0]))(t)
		defer tr.Close()
		m.begin()
		for _, p := range all[1:] {
			require.NoError(t, tr.Add(p))
		}
		m.end()
	}},
	{name: "exit of one that is traced", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := spawn(t, a, n)
		tr := must(trace.Open(a, trace.Config{Processes: n}, all...))(t)
		defer tr.Close()
		m.begin()
		kill(t, a, all)
		m.end()
	}},
	{name: "spawn of one that is traced", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := spawn(t, a, 1)[0]
		tr := must(trace.Open(a, trace.Config{Processes: n + 1, Children: true}, p))(t)
		defer tr.Close()
		done := make(chan error, 1)
		m.begin()
		require.NoError(t, a.Send(p, func(c *node.Context) {
			var err error
			for range n {
				_, e := c.Spawn(actor{})
				err = errors.Join(err, e)
			}
			done <- err
		}))
		require.NoError(t, testkit.Receive(t, done))
		m.end()
	}},

	// Stages, owned processes, functions for others.
	{name: "make and close a stage", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := make([]*stage.Stage, n)
		m.begin()
		for i := range all {
			all[i] = must(stage.New(a, stage.Options{}))(t)
		}
		for _, i := range shuffled(t, n) {
			require.NoError(t, all[i].Close(t.Context(), a))
		}
		m.end()
	}},
	{name: "own a process", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		all := make([]*lifetime.Owner, n)
		m.begin()
		for i := range all {
			all[i] = must(lifetime.Own(a, &owned{}, node.Options{}))(t)
		}
		for _, o := range all {
			require.NoError(t, o.Send(a, 1))
		}
		m.end()
	}},
	{name: "export a function", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		of := func(i int) wire.Export { return wire.Export{Module: name(i), Function: "f"} }
		m.begin()
		for i := range n {
			require.NoError(t, rpc.ExportBehaviour(a, of(i), func([]any) (node.Actor, error) { return actor{}, nil }))
		}
		for _, i := range shuffled(t, n) {
			rpc.Unexport(a, of(i))
		}
		m.end()
	}},

	// Supervisors and applications.
	{name: "start a child", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(supervisor.Start(t.Context(), a, supervisor.Spec{}, node.Options{}))(t)
		m.begin()
		startChildren(t, a, p, n)
		m.end()
	}},
	{name: "terminate and delete a child", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		p := must(supervisor.Start(t.Context(), a, supervisor.Spec{}, node.Options{}))(t)
		startChildren(t, a, p, n)
		m.begin()
		for _, i := range shuffled(t, n) {
			require.NoError(t, supervisor.TerminateChild(t.Context(), a, p, i))
			require.NoError(t, supervisor.DeleteChild(t.Context(), a, p, i))
		}
		m.end()
	}},
	{name: "start and terminate one of many of a kind", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		spec := supervisor.Spec{Strategy: supervisor.SimpleOneForOne,
			Children: []supervisor.Child{{ID: "x", Start: start, Restart: supervisor.Temporary}}}
		p := must(supervisor.Start(t.Context(), a, spec, node.Options{}))(t)
		all := make([]node.PID, n)
		m.begin()
		for i := range all {
			all[i] = must(supervisor.StartDynamic(t.Context(), a, p))(t)
		}
		for _, i := range shuffled(t, n) {
			require.NoError(t, supervisor.TerminateChild(t.Context(), a, p, all[i]))
		}
		m.end()
	}},
	{name: "start and stop an application", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		c := must(application.Start(t.Context(), a))(t)
		for i := range n {
			require.NoError(t, c.Load(application.Spec{Name: name(i), Top: &supervisor.Spec{}}))
		}
		m.begin()
		require.NoError(t, c.StartAll(t.Context()))
		require.NoError(t, c.StopAll(t.Context()))
		m.end()
	}},
	{name: "start an application that depends on another", run: func(t *testing.T, m *meter, n int) {
		a := nodetest.Start(t, node.Config{})
		c := must(application.Start(t.Context(), a))(t)
		m.begin()
		for i := range n {
			s := application.Spec{Name: name(i), Top: &supervisor.Spec{}}
			if i > 0 {
				s.Depends = []node.Atom{name(i - 1)}
			}
			require.NoError(t, c.Load(s))
		}
		must(c.EnsureAllStarted(t.Context(), name(n-1), application.Temporary))(t)
		for i := range n {
			require.NoError(t, c.Stop(t.Context(), name(n-1-i)))
			require.NoError(t, c.Unload(t.Context(), name(n-1-i)))
		}
		m.end()
	}},

	// Other nodes.
	{name: "long messages of many, native", run: longMessages("native")},
	{name: "long messages of many, Erlang", run: longMessages("erlang")},
	{name: "monitor and demonitor, far", run: func(t *testing.T, m *meter, n int) {
		c := clustertest.NewMemoryCluster(t)
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		all, h := spawn(t, b, n), nodetest.NewProbe(t, a)
		m.begin()
		refs := monitor(h.Process, all)
		for _, i := range shuffled(t, n) {
			h.DemonitorFlush(refs[i])
		}
		must(node.Call[int](t.Context(), h, all[0], 1))(t)
		m.end()
	}},
	{name: "exit of one that is monitored, far", run: func(t *testing.T, m *meter, n int) {
		c := clustertest.NewMemoryCluster(t)
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		all, h := spawn(t, b, n), nodetest.NewProbe(t, a)
		monitor(h.Process, all)
		must(node.Call[int](t.Context(), h, all[0], 1))(t)
		m.begin()
		for _, i := range shuffled(t, n) {
			b.Exit(all[i], node.Kill)
		}
		for range n {
			node.ReceiveOf[node.Down](h.Process)
		}
		m.end()
	}},
	{name: "send a value of a new type", run: func(t *testing.T, m *meter, n int) {
		e := pack.Encoder{Types: new(pack.Types)}
		values := make([]any, n)
		for i := range values {
			typ := types[i%64]
			for more := i / 64; more > 0; more /= 2 { // another type for each i, with the same number of elements
				typ = []func(reflect.Type) reflect.Type{reflect.PointerTo, reflect.SliceOf}[more%2](typ)
			}
			values[i] = reflect.New(reflect.ArrayOf(1, typ)).Elem().Interface()
		}
		m.begin()
		for _, v := range values {
			must(e.Append(nil, wire.Tuple{v}))(t)
		}
		m.end()
	}},

	// Terms.
	{name: "put into and take out of a map", run: func(t *testing.T, m *meter, n int) {
		var all wire.Map
		m.begin()
		for i := range n {
			all.Put(i, i)
		}
		for _, i := range shuffled(t, n) {
			all.Delete(i)
		}
		m.end()
	}},
	{name: "write and read a term", run: func(t *testing.T, m *meter, n int) {
		l := make(wire.List, n)
		for i := range l {
			l[i] = wire.Tuple{wire.Atom("item"), i, "text"}
		}
		m.begin()
		_, _, err := etf.Decode(must(etf.Append(nil, l))(t))
		m.end()
		require.NoError(t, err)
	}},
}

// types are array types that a node sends as expressions.
var types = func() (all [64]reflect.Type) {
	of := []reflect.Type{reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[uint16]()}
	for i := range all {
		all[i] = reflect.ArrayOf(i/len(of)+1, of[i%len(of)])
	}
	return all
}()

// longMessages sends a long text from each of n processes.
func longMessages(protocol string) func(*testing.T, *meter, int) {
	return func(t *testing.T, m *meter, n int) {
		n /= 4 // others
		c := clustertest.NewCluster(t)
		c.Speak(protocol)
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		h := nodetest.NewProbe(t, b)
		text := string(make([]byte, 100<<10))
		var senders sync.WaitGroup
		m.begin()
		for range n {
			s := nodetest.NewProbe(t, a)
			senders.Go(func() {
				if err := s.Send(h.Self(), text); err != nil {
					t.Error(err)
				}
			})
		}
		for range n {
			nodetest.Expect[string](h)
		}
		senders.Wait()
		m.end()
	}
}

// actor runs the functions it is sent, and answers a request with the request.
type actor struct{}

func (actor) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case func(*node.Context):
		m(c)
	case node.Request[int]:
		return m.Reply(m.Body)
	default: // only the cost of receiving it counts
	}
	return nil
}

func start(...any) (node.Actor, error) { return actor{}, nil }

// owned is an actor with an owner.
type owned struct{ _ int }

func (*owned) Receive(*node.Context, any) error { return nil }

// keeper keeps requests until it is told to answer them.
type keeper struct{ kept []node.Request[int] }

func (k *keeper) Receive(_ *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[int]:
		k.kept = append(k.kept, m)
	case []int: // the order
		for _, i := range m {
			if err := k.kept[i].Reply(i); err != nil {
				return err
			}
		}
	default:
		return node.ErrUnhandled
	}
	return nil
}

func ask(h *node.Process, p node.PID, n int) []*node.Future[int] {
	all := make([]*node.Future[int], n)
	for i := range all {
		all[i] = node.Async[int](h, p, i)
	}
	return all
}

func answer(t *testing.T, a *node.Node, keeper node.PID, n int) {
	require.NoError(t, a.Send(keeper, shuffled(t, n)))
}

// machine is a state machine that runs the functions it is sent.
type machine struct{}

func (*machine) only(c *statem.Context, e statem.Event) (statem.State[*machine], error) {
	if f, ok := e.Content.(func(*statem.Context)); ok {
		f(c)
	}
	return nil, nil
}

var machines = statem.Define((*machine).only)

func setTimeout(c *statem.Context, i int) { c.SetTimeout(statem.Named(fmt.Sprint(i)), time.Hour, i) }

// each runs f in n events of a machine.
func each(t *testing.T, a *node.Node, p node.PID, n int, f func(c *statem.Context, i int)) {
	done := make(chan struct{})
	for i := range n {
		require.NoError(t, a.Send(p, func(c *statem.Context) { f(c, i) }))
	}
	require.NoError(t, a.Send(p, func(*statem.Context) { close(done) }))
	testkit.Receive(t, done)
}

func handler(i int) event.ID { return event.ID{Module: "h", ID: i} }

func ignore(*event.Context, int) error { return nil }

func addHandlers(t *testing.T, a *node.Node, p node.PID, n int) {
	for i := range n {
		require.NoError(t, event.Add(t.Context(), a, p, handler(i), event.Func(ignore)))
	}
}

func startChildren(t *testing.T, a *node.Node, p node.PID, n int) {
	for i := range n {
		must(supervisor.StartChild(t.Context(), a, p, supervisor.Child{ID: i, Start: start}))(t)
	}
}

func scope(t *testing.T) (*node.Node, *pg.Scope) {
	a := nodetest.Start(t, node.Config{})
	return a, must(pg.Start(t.Context(), a, pg.Config{}))(t)
}

func spawn(t *testing.T, a *node.Node, n int) []node.PID {
	all := make([]node.PID, n)
	for i := range all {
		all[i] = must(a.Spawn(actor{}))(t)
	}
	return all
}

func name(i int) node.Atom { return node.Atom(fmt.Sprint("name", i)) }

func register(t *testing.T, a *node.Node, all []node.PID) {
	for i, p := range all {
		require.NoError(t, a.Register(name(i), p))
	}
}

func monitor(h *node.Process, all []node.PID) []node.Ref {
	refs := make([]node.Ref, len(all))
	for i, p := range all {
		refs[i] = h.Monitor(p)
	}
	return refs
}

// kill ends processes in random order.
func kill(t *testing.T, a *node.Node, all []node.PID) {
	h := nodetest.NewProbe(t, a)
	monitor(h.Process, all)
	for _, i := range shuffled(t, len(all)) {
		a.Exit(all[i], node.Kill)
	}
	for range all {
		node.ReceiveOf[node.Down](h.Process)
	}
}

func fill(t *testing.T, a *node.Node, h *node.Process, n int, msg any) {
	for range n {
		require.NoError(t, a.Send(h.Self(), msg))
	}
}

// shuffled returns the numbers below n in random order.
func shuffled(t *testing.T, n int) []int { return testkit.Rand(t).Perm(n) }

// must returns the result of a call that must not fail.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

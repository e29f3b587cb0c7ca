package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// names registers names, unregisters some, and ends their owners.
func (f *fault) names() error {
	n, from := f.two()
	name := f.name("name")
	pid, err := f.victim(n, node.Options{Name: name})
	if err != nil {
		return err
	}
	other, err := f.victim(n, node.Options{})
	if err != nil {
		return err
	}
	if err := n.Register(name, other); !errors.Is(err, node.ErrNameTaken) {
		return fmt.Errorf("%s is registered twice: %v", name, err)
	}
	at := node.At{Name: name, Node: n.Name()}
	if v, err := node.Call[int](f.ctx, from, at, int(f.number)); lost(err) != nil || err == nil && v != int(f.number) {
		return fmt.Errorf("%s answers %v, %v", name, v, err)
	}
	if f.chance(30) {
		if err := n.Unregister(name); err != nil {
			return err
		}
	} else {
		f.kill(n, pid)
		if _, err := node.AwaitExit(f.ctx, n, pid); err != nil {
			return err
		}
	}
	if err := n.Register(name, other); err != nil {
		return fmt.Errorf("the name of one that is gone is not free: %w", err)
	}
	if at, ok := n.Whereis(name); !ok || at != other {
		return fmt.Errorf("%s is %v, not %v", name, at, other)
	}
	from.Send(node.At{Name: f.name("nobody"), Node: n.Name()}, 1) // a dead letter, or an error
	if f.chance(50) {
		return n.Unregister(name)
	}
	return nil // it ends with its process
}

// kill ends a process in a random way.
func (f *fault) kill(n *soakNode, pid node.PID) {
	if f.chance(30) {
		n.Exit(pid, node.Kill)
		return
	}
	n.Send(pid, pick(f.r, deaths...))
}

// aliases makes aliases, uses them from elsewhere, uses them up, or leaves them to end with their process.
func (f *fault) aliases() error {
	n, from := f.two()
	h, err := f.handle(n)
	if err != nil {
		return err
	}
	many, once, none := h.Alias(), h.AliasOnce(), h.Alias()
	h.Unalias(none)
	for _, ref := range []node.Ref{many, once, none, many, once} {
		node.Send(from, ref, int(f.number))
	}
	if n == from { // nothing is lost
		for range 3 {
			if m, err := h.ReceiveWithin(f.s.patience, nil); err != nil || m != int(f.number) {
				return fmt.Errorf("by an alias came %v, %v", m, err)
			}
		}
		if m, err := h.ReceiveWithin(0, nil); err == nil {
			return fmt.Errorf("by an alias that is not active came %v", m)
		}
	}
	pid, err := f.victim(n, node.Options{})
	if err != nil {
		return err
	}
	for range 1 + f.r.IntN(4) {
		if _, err := f.tell(n, pid, pick(f.r, "alias", "alias_once")); err != nil {
			return err
		}
	}
	f.kill(n, pid)
	return nil
}

// groups joins groups on several nodes, leaves them, and ends members.
func (f *fault) groups() error {
	group := wire.Tuple{wire.Atom("soak"), int(f.number)}
	type member struct {
		n   *soakNode
		pid node.PID
	}
	var all []member
	h, err := f.handle(f.node())
	if err != nil {
		return err
	}
	for _, n := range f.s.nodes {
		if h.Node() == n.Node && f.chance(50) {
			if _, _, err := n.scope.Monitor(f.ctx, h, group); err != nil {
				return err
			}
		}
		for range f.r.IntN(4) {
			pid, err := f.victim(n, node.Options{})
			if err != nil {
				return err
			}
			if err := n.scope.Join(f.ctx, n, group, pid); err != nil {
				return err
			}
			all = append(all, member{n, pid})
		}
	}
	left := len(all)
	if err := f.seen(group, left); err != nil {
		return err
	}
	for _, m := range all {
		switch f.r.IntN(3) {
		case 0:
			if err := m.n.scope.Leave(f.ctx, m.n, group, m.pid); err != nil {
				return err
			}
			left--
		case 1:
			f.kill(m.n, m.pid)
			left--
		}
	}
	return f.seen(group, left)
}

// seen waits until all nodes see that many members.
func (f *fault) seen(group any, members int) error {
	return f.settles(func() string {
		if err := f.s.connect(f.ctx); err != nil {
			return err.Error()
		}
		for _, n := range f.s.nodes {
			if k := len(n.scope.Members(group)); k != members {
				return fmt.Sprintf("%s sees %d members of a group of %d", n.Name(), k, members)
			}
		}
		return ""
	})
}

// crash ends a child of a supervisor several times, and deletes it.
func (f *fault) crash() error {
	n := f.node()
	name := f.name("child")
	restart := pick(f.r, supervisor.Permanent, supervisor.Transient, supervisor.Temporary)
	k := supervisor.Child{ID: int(f.number), Restart: restart, Shutdown: pick(f.r, supervisor.BrutalKill, time.Second),
		Options: node.Options{Name: name, Coroutine: f.chance(50)}}
	process := f.chance(50)
	k.Start = func(...any) (node.Actor, error) {
		if process {
			return node.ProcessFunc(soakProcessor), nil
		}
		return node.ActorFunc(soakActor), nil
	}
	if !process {
		k.Options.Coroutine = false
	}
	if f.chance(30) {
		k.Backoff = supervisor.Backoff{Initial: soakShort, Jitter: 0.5}
	}
	pid, err := supervisor.StartChild(f.ctx, n, n.sup, k)
	if err != nil {
		return err
	}
	for range f.r.IntN(4) {
		how := pick(f.r, deaths...)
		n.Send(pid, how)
		if _, err := node.AwaitExit(f.ctx, n, pid); err != nil {
			return fmt.Errorf("it does not end by %s: %w", how, err)
		}
		if restart == supervisor.Temporary || restart == supervisor.Transient && how == "stop" {
			break
		}
		if f.chance(20) {
			break // it may be waiting for its restart
		}
		old := pid
		if err := f.settles(func() string {
			var ok bool
			if pid, ok = n.Whereis(name); !ok || pid == old {
				return fmt.Sprintf("a child (%v) that has ended by %s is not started again", restart, how)
			}
			return ""
		}); err != nil {
			return err
		}
	}
	if err := supervisor.TerminateChild(f.ctx, n, n.sup, k.ID); err != nil && !errors.Is(err, supervisor.ErrNotFound) {
		return err
	}
	if err := supervisor.DeleteChild(f.ctx, n, n.sup, k.ID); err != nil && !errors.Is(err, supervisor.ErrNotFound) {
		return err
	}
	if at, ok := n.Whereis(name); ok && n.IsAlive(at) {
		return fmt.Errorf("a child that has been taken away lives as %v", at)
	}
	return nil
}

// giveUp makes a supervisor exceed its intensity; all its children must end with it.
func (f *fault) giveUp() error {
	n := f.node()
	strategy := pick(f.r, supervisor.OneForOne, supervisor.RestForOne, supervisor.OneForAll)
	spec := supervisor.Spec{Strategy: strategy, Intensity: 2, Period: time.Hour}
	names := make([]node.Atom, 1+f.r.IntN(4))
	for i := range names {
		names[i] = f.name(fmt.Sprint("child", i, "_"))
		spec.Children = append(spec.Children, supervisor.Child{ID: i, Options: node.Options{Name: names[i]},
			Start: func(...any) (node.Actor, error) { return node.ActorFunc(soakActor), nil }})
	}
	sup, err := supervisor.Start(f.ctx, n, spec, node.Options{})
	if err != nil {
		return err
	}
	f.mine = append(f.mine, soakProcess{n, sup})
	for n.IsAlive(sup) && f.ctx.Err() == nil {
		if pid, ok := n.Whereis(pick(f.r, names...)); ok {
			n.Send(pid, wire.Atom("exit"))
		}
		f.pause(time.Millisecond)
	}
	if _, err := node.AwaitExit(f.ctx, n, sup); err != nil {
		return fmt.Errorf("a supervisor with too many restarts goes on: %w", err)
	}
	for _, name := range names {
		if at, ok := n.Whereis(name); ok && n.IsAlive(at) {
			return fmt.Errorf("a child of a supervisor that has given up lives as %v", at)
		}
	}
	return nil
}

// links makes links between nodes; one process ends, or the link is removed, or the connection is lost, and the other must
// end if expected.
func (f *fault) links() error {
	x, y := f.two()
	a, err := f.victim(x, node.Options{})
	if err != nil {
		return err
	}
	b, err := f.victim(y, node.Options{})
	if err != nil {
		return err
	}
	trap := f.chance(30)
	if trap {
		if _, err := f.tell(x, a, "trap"); err != nil {
			return err
		}
	}
	if _, err := f.tell(x, a, "link", b); err != nil {
		return f.gone(err)
	}
	if f.chance(20) {
		_, err := f.tell(x, a, "unlink", b)
		return f.gone(err)
	}
	if f.chance(10) && x != y && !f.s.never(x, y) {
		x.Disconnect(y.Name())
	}
	how := pick(f.r, deaths...)
	y.Send(b, how)
	if how == "stop" {
		return nil
	}
	if _, err := node.AwaitExit(f.ctx, y, b); err != nil {
		return fmt.Errorf("it does not end by %s: %w", how, err)
	}
	if trap {
		v, err := f.tell(x, a, "echo")
		if err != nil || v == nil {
			return fmt.Errorf("one that traps exits has ended with the one it is linked to: %w", err)
		}
		return nil
	}
	if _, err := node.AwaitExit(f.ctx, x, a); err != nil {
		return fmt.Errorf("%v has ended by %s, and %v, which is linked to it, has not: %w", b, how, a, err)
	}
	return nil
}

// gone returns nil for an error if the victim may have ended because the connection of its link was lost.
func (f *fault) gone(err error) error {
	var exit *node.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// monitors checks that monitors deliver exactly one Down.
func (f *fault) monitors() error {
	x, y := f.two()
	h, err := f.handle(x)
	if err != nil {
		return err
	}
	name := f.name("watched")
	b, err := f.victim(y, node.Options{Name: name})
	if err != nil {
		return err
	}
	other, err := f.victim(y, node.Options{})
	if err != nil {
		return err
	}
	refs := map[node.Ref]bool{h.Monitor(b): true, h.Monitor(node.At{Name: name, Node: y.Name()}): true}
	gone := h.Monitor(other)
	if h.DemonitorFlush(gone); f.chance(50) {
		f.kill(y, other)
	}
	if f.chance(30) { // the owner of a monitor ends first
		if _, err := f.tell(y, other, "monitor", h.Self()); f.gone(err) != nil {
			return err
		}
		if _, err := f.tell(y, other, "monitor_node", x.Name()); f.gone(err) != nil {
			return err
		}
	}
	f.kill(y, b)
	for len(refs) > 0 {
		m, err := h.ReceiveWithin(f.s.patience, nil)
		if err != nil {
			return fmt.Errorf("%d of 2 Downs have not come: %w", len(refs), err)
		}
		d, ok := m.(node.Down)
		if !ok || !refs[d.Ref] {
			return fmt.Errorf("a monitor brings %v", m)
		}
		delete(refs, d.Ref)
	}
	if m, err := h.ReceiveWithin(0, nil); err == nil {
		return fmt.Errorf("after the Down there comes %v", m)
	}
	return nil
}

// spawns starts processes by name on another node, and calls functions there.
func (f *fault) spawns() error {
	x, y := f.two()
	h, err := f.handle(x)
	if err != nil {
		return err
	}
	for range 1 + f.r.IntN(3) {
		pid, err := rpc.Spawn(f.ctx, h, y.Name(), "soak", "guest")
		if lost(err) != nil {
			return err
		}
		if err == nil {
			ref := h.Monitor(pid)
			h.Send(pid, pick(f.r, deaths...))
			down := func(m any) bool { d, ok := m.(node.Down); return ok && d.Ref == ref }
			if _, err := h.ReceiveWithin(f.s.patience, down); err != nil {
				return fmt.Errorf("no Down of a process that was started by name: %w", err)
			}
		}
	}
	if _, err := rpc.Spawn(f.ctx, h, y.Name(), "soak", "nothing"); lost(err) != nil { // a process that ends with undef
		return err
	}
	v, err := rpc.Call[int](f.ctx, h, y.Name(), "soak", "echo", int(f.number))
	if lost(err) != nil || err == nil && v != int(f.number) {
		return fmt.Errorf("rpc: %v, %w", v, err)
	}
	var remote *rpc.Error
	if _, err := rpc.Call[int](f.ctx, h, y.Name(), "soak", "fail"); !errors.As(err, &remote) && (err == nil || lost(err) != nil) {
		return fmt.Errorf("rpc of a function that fails: %w", err)
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.short())
	defer cancel()
	if _, err := rpc.Call[int](ctx, h, y.Name(), "soak", "sleep", f.r.IntN(100)); lost(err) != nil {
		return err
	}
	return rpc.Cast(h, y.Name(), "soak", pick[node.Atom](f.r, "fail", "nothing"))
}

// timers checks that timers fire once, or not at all if cancelled; those of dead processes end.
func (f *fault) timers() error {
	n := f.node()
	h, err := f.handle(n)
	if err != nil {
		return err
	}
	waited := make(map[any]bool)
	for i := range 1 + f.r.IntN(8) {
		t, err := h.SendAfter(time.Duration(f.r.Int64N(int64(soakTimer))), h.Self(), i)
		if err != nil {
			return err
		}
		cancelled := false
		if f.chance(50) {
			f.pause(f.short())
			_, cancelled = t.Cancel()
		}
		if !cancelled {
			waited[i] = true
		}
	}
	every, err := h.SendInterval(time.Millisecond, h.Self(), "tick")
	if err != nil {
		return err
	}
	for ticks := 0; len(waited) > 0 || ticks < 3; {
		m, err := h.ReceiveWithin(f.s.patience, nil)
		if err != nil {
			return fmt.Errorf("%d timers have not fired: %w", len(waited), err)
		}
		if m == "tick" {
			ticks++
		} else if !waited[m] {
			return fmt.Errorf("timer %v has been cancelled, or has fired before", m)
		}
		delete(waited, m)
	}
	every.Cancel()
	pid, err := f.victim(n, node.Options{})
	if err != nil {
		return err
	}
	if _, err := f.tell(n, pid, "timers"); err != nil {
		return err
	}
	f.kill(n, pid)
	return nil
}

// calls makes calls that are answered, late, never, or made to a dead process; some do not wait.
func (f *fault) calls() error {
	x, y := f.two()
	pid, err := f.victim(y, node.Options{})
	if err != nil {
		return err
	}
	h, err := f.handle(x)
	if err != nil {
		return err
	}
	for i := range 1 + f.r.IntN(6) {
		switch f.r.IntN(5) {
		case 0:
			v, err := callWithin[int](f.short(), h, pid, wire.Tuple{wire.Atom("late"), i})
			if lost(err) != nil || err == nil && v != i {
				return fmt.Errorf("a call that is answered late: %v, %w", v, err)
			}
		case 1:
			if v, err := callWithin[any](f.short(), x, pid, wire.Tuple{wire.Atom("never"), i}); err == nil || lost(err) != nil {
				return fmt.Errorf("a call that is never answered: %v, %v", v, err)
			}
		case 2: // not awaited
			//actornode:ignore lostfuture what becomes of a future that nobody awaits is what is tried
			_ = node.Async[any](h, pid, wire.Tuple{wire.Atom(pick(f.r, "late", "never", "echo")), i})
		case 3:
			if c := node.Async[any](x, pid, wire.Tuple{wire.Atom("never"), i}); f.chance(50) {
				c.Cancel()
			}
		case 4:
			node.SendRequest(h, pid, i, wire.Tuple{wire.Atom(pick(f.r, "late", "never", "echo")), i})
		}
		if v, err := node.Call[int](f.ctx, h, pid, i); lost(err) != nil || err == nil && v != i {
			return fmt.Errorf("a call is answered with %v, %w, not %d", v, err, i)
		}
	}
	last := node.Async[any](x, pid, wire.Tuple{wire.Atom("never"), 0})
	f.kill(y, pid)
	var exit *node.ExitError
	if v, err := node.Await(f.ctx, x, last); !errors.As(err, &exit) {
		return fmt.Errorf("a call to one that has died: %v, %v", v, err)
	}
	return nil
}

// nodes starts a node, uses it from the permanent ones, and stops it.
func (f *fault) nodes() (err error) {
	name, release := f.s.nodeName(f)
	defer release()
	proto := f.s.p.Word("proto")
	if proto == "mixed" {
		proto = pick(f.r, "erlang", "both") // all support it
	}
	n, err := f.s.node(f.ctx, name, proto, node.Distribution{Timing: node.Timing{Grace: pick(f.r, 0, time.Second)}})
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	stopped := false
	defer func() {
		if !stopped {
			err = errors.Join(err, n.Stop())
		}
	}()
	x := f.node()
	h, err := f.handle(x)
	if err != nil {
		return err
	}
	guest := &fault{s: f.s, r: f.r, number: f.number, ctx: f.ctx} // its processes on n end with n
	away, err := guest.victim(n, node.Options{Name: f.name("away")})
	if err != nil {
		return err
	}
	group := wire.Tuple{wire.Atom("node"), int(f.number)}
	if err := n.scope.Join(f.ctx, n, group, away); err != nil {
		return err
	}
	here, err := f.victim(x, node.Options{})
	if err != nil {
		return err
	}
	h.MonitorNode(name)
	refs := map[node.Ref]bool{h.Monitor(away): true, h.Monitor(node.At{Name: f.name("away"), Node: name}): true}
	for _, do := range []func() (any, error){
		func() (any, error) { return f.tell(x, here, "link", away) },
		func() (any, error) { return f.tell(n, away, "monitor", here) },
		func() (any, error) { return f.tell(n, away, "monitor_node", x.Name()) },
		func() (any, error) { return rpc.Spawn(f.ctx, n, x.Name(), "soak", "guest") },
		func() (any, error) { return rpc.Call[any](f.ctx, x, name, "soak", "echo", 1) },
	} {
		if _, err := do(); f.gone(err) != nil {
			return err
		}
	}
	//actornode:ignore lostfuture what becomes of a future that nobody awaits is what is tried
	_ = node.Async[any](x, away, wire.Tuple{wire.Atom("never"), 1})
	f.pause(f.short())
	f.leave(n)
	stopped = true
	if err := n.Stop(); err != nil {
		return fmt.Errorf("node %s does not stop: %w", name, err)
	}
	for down := false; len(refs) > 0 || !down; {
		m, err := h.ReceiveWithin(f.s.patience, nil)
		if err != nil {
			return fmt.Errorf("node %s has gone, and there is no NodeDown, or no Down of %d: %w", name, len(refs), err)
		}
		switch m := m.(type) {
		case node.NodeDown:
			down = true
		case node.Down:
			delete(refs, m.Ref)
		}
	}
	return f.settles(func() string {
		if k := len(x.scope.Members(group)); k > 0 {
			return fmt.Sprintf("%s has gone, and %d members of a group are there", name, k)
		}
		return ""
	})
}

// nodeName returns a name that is new, or that a former node had.
func (s *soakStand) nodeName(f *fault) (name node.Atom, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := f.r.IntN(2 * soakFixed); i < soakFixed && !s.fixed[i] {
		s.fixed[i] = true
		return node.Atom(fmt.Sprintf("again%d@127.0.0.1", i)), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fixed[i] = false
		}
	}
	return node.Atom(fmt.Sprintf("new%d@127.0.0.1", f.number)), func() {}
}

// leave affects the connections of a node before its stop: nothing happens, they are cut, or they fall silent.
func (f *fault) leave(n *soakNode) {
	how := f.r.IntN(3)
	for _, r := range f.s.net.all() {
		dead := f.s.net.side(r, n.Name())
		switch {
		case dead < 0 || how == 0:
		case how == 1 || !f.s.silence:
			r.end(f.chance(50))
		default:
			r.vanish(dead)
		}
	}
}

// cut ends connections, at once or during a transfer, and may refuse new ones for a time.
func (f *fault) cut() error {
	all := f.s.net.all()
	if len(all) == 0 {
		return nil
	}
	for range 1 + f.r.IntN(3) {
		r := pick(f.r, all...)
		if f.chance(40) {
			f.s.net.shut(r.name, time.Duration(f.r.Int64N(int64(soakOutage))))
		}
		if f.chance(50) {
			r.lanes[f.r.IntN(2)].left.Store(1 + f.r.Int64N(1<<16))
			continue
		}
		r.end(f.chance(50))
	}
	return nil
}

// slow makes a peer read nothing for a while, or little at a time.
func (f *fault) slow() error {
	all := f.s.net.all()
	if len(all) == 0 {
		return nil
	}
	l := &pick(f.r, all...).lanes[f.r.IntN(2)]
	if f.chance(50) {
		l.hold()
	} else {
		l.slow.Store(true)
	}
	f.pause(time.Duration(f.r.Int64N(int64(f.s.stall))))
	l.release()
	return nil
}

// callWithin is a call with the timeout d. It returns node.ErrTimeout after that.
func callWithin[R, Q any](d time.Duration, from node.Caller, to node.Dest, req Q) (R, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, node.ErrTimeout)
	defer cancel()
	return node.Call[R](ctx, from, to, req)
}

package main

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// soakActs is the interface through which a victim of either kind acts.
type soakActs interface {
	Node() *node.Node
	Self() node.PID
	Link(node.Dest)
	Unlink(node.Dest)
	Monitor(node.Dest) node.Ref
	MonitorNode(node.Atom) node.Ref
	MonitorNodes()
	TrapExit(bool) bool
	Alias() node.Ref
	AliasOnce() node.Ref
	SendAfter(time.Duration, node.Dest, any) (*node.Timer, error)
	SendInterval(time.Duration, node.Dest, any) (*node.Timer, error)
	Reply(node.From, any) error
}

func soakActor(c *node.Context, msg any) error { return obey(c, msg) }

func soakProcessor(p *node.Process) error {
	for {
		if err := obey(p, p.Receive()); err != nil {
			return err
		}
	}
}

// guestLasts is how long a process spawned by another node lives if it is never told to end: the spawner may have got a
// connection error.
const guestLasts = 300 * time.Millisecond

// soakGuest makes a victim that ends after a time without messages.
func soakGuest([]any) (node.Actor, error) {
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			msg, err := p.ReceiveWithin(guestLasts, nil)
			if err != nil {
				return nil
			}
			if err := obey(p, msg); err != nil {
				return err
			}
		}
	}), nil
}

// obey executes a command: an atom, which ends the victim, or a request. It ignores everything else: Downs, timers,
// messages of others.
func obey(a soakActs, msg any) error {
	if r, ok := a.Node().AsRequest(msg); ok {
		return serve(a, r)
	}
	switch msg {
	case wire.Atom("panic"):
		panic("told to")
	case wire.Atom("index"):
		var none []int
		_ = none[len(none)]
	case wire.Atom("error"):
		return errors.New("told to")
	case wire.Atom("goexit"):
		runtime.Goexit()
	case wire.Atom("exit"):
		return node.ExitWith(wire.Atom("told_to"))
	case wire.Atom("stop"):
		return node.ErrStop
	}
	return nil
}

// serve answers a request: {What, Args...}, or any other term, which is echoed.
func serve(a soakActs, r node.Request[any]) error {
	t, _ := r.Body.(wire.Tuple)
	var what any
	if len(t) > 0 {
		what = t[0]
	}
	var answer any = wire.Atom("ok")
	switch what {
	case wire.Atom("link"):
		a.Link(t[1].(node.PID))
	case wire.Atom("unlink"):
		a.Unlink(t[1].(node.PID))
	case wire.Atom("trap"):
		a.TrapExit(true)
	case wire.Atom("monitor"):
		a.Monitor(t[1].(node.PID))
	case wire.Atom("monitor_node"):
		a.MonitorNode(t[1].(node.Atom))
		a.MonitorNodes()
	case wire.Atom("alias"):
		answer = a.Alias()
	case wire.Atom("alias_once"):
		answer = a.AliasOnce()
	case wire.Atom("timers"): // which nobody cancels
		if _, err := a.SendAfter(soakTimer, a.Self(), wire.Atom("tick")); err != nil {
			return err
		}
		if _, err := a.SendInterval(soakTimer/10, a.Self(), wire.Atom("tick")); err != nil {
			return err
		}
	case wire.Atom("late"):
		time.AfterFunc(soakTimer/2, func() { r.From.Reply(t[1]) })
		return nil
	case wire.Atom("never"):
		return nil
	default:
		answer = r.Body
	}
	_ = a.Reply(r.From, answer) // the caller may have given up
	return nil
}

func soakEcho(_ context.Context, args []any) (any, error) { return args[0], nil }

func soakFail(context.Context, []any) (any, error) { return nil, errors.New("told to") }

func soakSleep(ctx context.Context, args []any) (any, error) {
	ms, _ := wire.AsInt(args[0])
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-ctx.Done():
	}
	return args[0], nil
}

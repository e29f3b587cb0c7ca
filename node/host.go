package node

import (
	"reflect"
	"slices"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// host is a node as package process knows it: what it gives its processes. Most of its methods are described there.
type host Node

func (*host) Exited(from PID, reason any) any       { return Exited{from, reason} }
func (*host) Down(d process.Down) any               { return Down(d) }
func (*host) NodeDown(node Atom, reason string) any { return NodeDown{node, reason} }
func (*host) Result(tag, v any, err error) any      { return Result{inbox.BareExpected(tag), v, err} }

func (*host) IsDown(msg any, ref Ref) bool {
	d, ok := msg.(Down)
	return ok && d.Ref == ref
}

func (*host) ErrorOf(reason any) error { return &ExitError{Reason: reason} }
func (*host) ReasonOf(err error) any   { return ReasonOf(err) }
func (*host) Panicked(cause any) any   { return Panicked(cause) }
func (*host) Lost(node Atom, why error) error {
	return &ExitError{Reason: NoConnection, Node: node, Cause: why}
}

// Whereis asks another node which process has a name there, and then calls then with it; with the zero PID and an exit
// reason if there is none, or the node is not there.
func (*host) Whereis(a *process.Acting, at At, then func(pid PID, why any)) {
	f := Async[any](&common{a}, erpc.NewFunction(at.Node, "erlang", "whereis", []any{at.Name}), struct{}{})
	f.w.Add(a, func(*process.Acting) {
		v, err := f.p.Result()
		pid, found := v.(PID)
		switch exited, _ := err.(*ExitError); {
		case exited != nil && exited.Reason == NoConnection:
			then(PID{}, NoConnection)
		case !found || err != nil:
			then(PID{}, NoProc)
		default:
			then(pid, nil)
		}
	})
}

// Self is the process that stands for a plain goroutine towards other nodes.
func (n *host) Self() PID {
	if n.dist == nil {
		return PID{}
	}
	if pid := n.dist.kernel.Load(); pid != nil {
		return *pid
	}
	return PID{}
}

// Crashed reports the crash of a process by its own doing, as Erlang's crash report does. It does not report processes
// that a link takes down with it. If the parent is a supervisor, that reports the crash, with what it decides: see
// inside.ReportCrash. told makes sure that there is a report.
func (n *host) Crashed(c process.Crash) (told func()) {
	why, crash := c.Reason.(*Crash)
	if !crash {
		return nil
	}
	parent := runner.ParentOf(c.Process)
	r := watch.Crash{Process: c.Process.PID(), Name: c.Name, Label: runner.LabelOf(c.Process),
		Parent: parent, Behaviour: typeName(behaviourOf(c.Process)), Reason: why, Stack: why.Stack}
	if k := c.Process.Cold; k != nil && k.Crash != nil {
		r.Details = *k.Crash
	}
	if t, ok := c.Process.Traceparent(); ok {
		trace, span := t.IDs()
		r.Details = append(slices.Clip(r.Details), "trace_id", trace, "span_id", span)
	}
	if !c.Tied || !n.reports.On() || !(*Node)(n).reportsCrashes(parent) {
		n.reports.Crashed(r)
		return func() {}
	}
	n.reports.Forsaken((*Node)(n).IsAlive)
	n.reports.Await(r)
	return func() {
		if !(*Node)(n).IsAlive(parent) {
			n.reports.Decided(why)
		}
	}
}

// Left is part of process.Host, and so are Unanswered and Answered.
func (n *host) Left(p *process.Process, left watch.Left) {
	p.Mu.Lock()
	b := behaviourOf(p)
	p.Mu.Unlock()
	n.reports.Left(left, p.Name(), typeName(b))
}

func (n *host) Unanswered(msg any, why error, raw bool) bool {
	if raw {
		msg = (*Node)(n).received(nil, msg)
	}
	return unanswered(msg, why)
}

func (n *host) Answered(ref Ref, msg any) bool { return n.peers.Replied(ref, msg) }

// reportsCrashes reports whether a process is a supervisor, which reports the crashes of its children.
func (n *Node) reportsCrashes(pid PID) bool {
	p := n.sys.Lookup(pid)
	if p == nil {
		return false
	}
	p.Mu.Lock()
	b := behaviourOf(p)
	p.Mu.Unlock()
	_, ok := b.(interface{ ReportsCrashes() })
	return ok
}

// behaviourOf is the behaviour of a process: the function of one that blocks, nil for a handle.
func behaviourOf(p *process.Process) Actor {
	switch r := p.Task().(type) {
	case *actor:
		return inbox.BehaviourOf(r.behaviour)
	case *external:
		return inbox.BehaviourOf(r.behaviour)
	}
	if f, ok := runner.BodyOf(p).(function); ok {
		return ProcessFunc(f)
	}
	return nil
}

// typeName is the behaviour's type as %T prints it; that of a handle is nil.
func typeName(v any) string {
	switch b := v.(type) {
	case nil:
		return "node.Process"
	case BehaviourNamer:
		return b.BehaviourName()
	case ActorFunc:
		return "node.ActorFunc"
	}
	return reflect.TypeOf(v).String()
}

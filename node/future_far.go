package node

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/internal/kernel/process"
)

// The first who waits here for a future of another node asks that node, once, and its answer settles
// the future. Package futures has the messages.

// anyFuture is a *Future of whatever type.
type anyFuture interface {
	home() *Node
	kind() reflect.Type // of its value
	reference() Ref
	result() (any, error)
	told() *process.Watches
}

// farFuture is the part of a Future that stands for one of another node.
type farFuture struct {
	asked sync.Once
	ref   Ref
}

// lendFuture returns the reference of a future of this node.
func (n *Node) lendFuture(f anyFuture) Ref {
	ref, fresh := n.futures.Lend(f, n.lentRef)
	if fresh {
		f.told().Want()
		f.told().Add(&n.sys.Plain, func(*process.Acting) { n.futures.Over(ref) })
	}
	return ref
}

// newFarFuture makes the Future of a reference that has come from another node.
func newFarFuture[R any](n *Node, ref Ref) any {
	if n.sys.Origin.Equal(ref.Origin()) {
		if own, ok := n.futures.Find(ref); ok {
			if f, ok := own.(*Future[R]); ok {
				return f
			}
		}
	}
	f := &Future[R]{far: &farFuture{ref: ref}}
	f.p.System, f.p.More = &n.sys, &f.w
	f.t = f.p.NewTicket()
	return f
}

// ask notes that somebody wants the value, and asks the node of f, if that is another and has not been asked.
func (f *Future[R]) ask() {
	f.w.Want()
	if f.far != nil {
		f.far.asked.Do(func() { nodeOf(f.p.System).askFor(f.far.ref, f.t, &f.w) })
	}
}

// askFor settles t with what the future ref is settled with. over is told when t is settled.
func (n *Node) askFor(ref Ref, t process.Ticket, over *process.Watches) {
	a := &n.sys.Plain
	if n.sys.Origin.Equal(ref.Origin()) {
		t.Settle(a, nil, &ExitError{Reason: NoProc}) // it is no more
		return
	}
	p := n.peers.Want(ref.Node(), true)
	if p == nil {
		t.Settle(a, nil, n.unreachable(ref.Node()))
		return
	}
	call := a.Promise()
	call.Target = nil
	u := call.NewTicket()
	over.Add(a, func(a *process.Acting) { u.Settle(a, nil, context.Canceled) })
	call.More.Add(a, func(a *process.Acting) {
		v, err := call.Result()
		switch exit, ended := err.(*ExitError); {
		case err == nil:
			v, err = futureResult(v)
		case ended && exit.Reason != NoConnection:
			err = &ExitError{Reason: NoConnection, Node: p.Name} // also where it is net_kernel that has ended: the node stops
		}
		t.Settle(a, v, err)
	})
	p.Call(a, u, process.Target{Node: p.Name, Name: "net_kernel"}, calls.Call, calls.MakeFutureAsk(ref), a.Process.Token())
}

// tellFuture replies with what a future is settled with. An exit is sent as a value: the exit of the call would be
// net_kernel's.
func (f From) tellFuture(a *process.Acting, v any, err error) {
	if exit, ok := err.(*ExitError); ok {
		v, err = calls.MakeFutureExit(exit.Reason), nil
	} else if err == nil {
		v = calls.MakeFutureValue(v)
	}
	_ = f.answer(a, v, err)
}

func futureResult(answer any) (any, error) {
	v, exited, ok := calls.ReadFutureAnswer(answer)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: got %T for a future", ErrReplyType, answer)
	case exited:
		return nil, &ExitError{Reason: v}
	}
	return v, nil
}

// answerFuture answers a request of another node for a future of this one. It returns false for any other request.
func (n *Node) answerFuture(r Request[any]) bool {
	ref, ok := calls.ReadFutureAsk(r.Body)
	if !ok {
		return false
	}
	f, ok := n.futures.Ask(ref)
	switch {
	case ok:
		from := r.From
		f.told().Add(&n.sys.Plain, func(a *process.Acting) {
			v, err := f.result()
			from.tellFuture(a, v, err)
		})
	case n.sys.Origin.Equal(ref.Origin()):
		r.tellFuture(&n.sys.Plain, nil, &ExitError{Reason: NoProc})
	default:
		r.tellFuture(&n.sys.Plain, nil, &ExitError{Reason: NoConnection}) // of an earlier life of this node
	}
	return true
}

func (f *Future[R]) home() *Node { return nodeOf(f.p.System) }

func (f *Future[R]) kind() reflect.Type { return reflect.TypeFor[R]() }

func (f *Future[R]) told() *process.Watches { return &f.w }

func (f *Future[R]) result() (any, error) { return f.p.Result() }

// reference is the name of f on other nodes: a copy that is not over keeps that of its original.
func (f *Future[R]) reference() Ref {
	if f.far != nil && !f.t.Done() {
		return f.far.ref
	}
	return nodeOf(f.p.System).lendFuture(f)
}

// giveFuture returns a *Future as other nodes get it: the name of its type, and its reference.
func giveFuture(f anyFuture) (name string, ref Ref, err error) {
	n := f.home()
	if n.dist == nil {
		return "", Ref{}, fmt.Errorf("a %T travels from nodes with Distribution only", f)
	}
	m, ok := n.types.of(f.kind())
	if !ok {
		return "", Ref{}, fmt.Errorf("a %T travels if the type of its value is known: add node.TypeOf[%v]() to what is registered", f,
			f.kind())
	}
	return m.name, f.reference(), nil
}

// Package stream connects processes with plain Go: messages as iterators and channels, and what a process
// computes as an iterator.
//
//	for m := range stream.Messages[Order](ctx, p) { … }        the messages of a process or a handle
//	orders, stop := stream.Receive[Order](ctx, h)              those of a handle by a channel, to select from
//	pid, orders, err := stream.Channel[Order](ctx, n, 10, o)   a process whose messages come by a channel
//	for v, err := range stream.Ahead(n, 10, primes) { … }      computed by a process, at most 10 values ahead
//
// # Invariants
//
//  1. A loop over Messages, and a reader of what Receive returns, takes the messages that it is given, and no
//     other: the rest stays in the mailbox, in its order. Afterwards nothing of the loop is in the mailbox.
//  2. What Channel and Ahead have started has ended when its context, or the loop, has; or soon after.
//  3. Values come in the order in which they were sent, or computed.
//
// # Goroutines
//
//	name      started by          ends with                            owns
//	receiver  Receive             ctx, stop, the end of the handle     the handle, the sending end
//	a channel Channel             ctx, an exit signal                  the sending end
//	ahead     a loop over Ahead   the end of the values, or the loop   the values that are ahead
package stream

import (
	"context"
	"iter"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
)

// Messages returns the messages of type T that come to a process, or to a handle, the oldest first, until ctx
// ends; others stay in the mailbox. T may be any. It belongs to the goroutine of p. The values of a handle end
// when that is killed, too.
func Messages[T any](ctx context.Context, p *node.Process) iter.Seq[T] {
	return Matching[T](ctx, p, nil)
}

// Matching is Messages for those for which match answers true; nil stands for all. match must not use p. What it
// has left the loop does not look at again, unless p has received something else meanwhile, so match must
// answer the same of a message whenever it is asked.
func Matching[T any](ctx context.Context, p *node.Process, match func(any) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		over, seen := &ended{}, false
		n, self, own := p.Node(), p.Self(), runner.BlockingOf(p.Inside(process.Key{}).Acting())
		stop := context.AfterFunc(ctx, func() { n.Inside(process.Key{}).Signal(self, over) }) // who is gone needs no end
		isOver := func(m any) bool { return m == any(over) }
		defer func() {
			if !stop() && !seen {
				p.ReceiveMatch(isOver)
			}
		}()
		wanted := func(m any) bool {
			_, ok := m.(T)
			return ok && (match == nil || match(m)) || isOver(m)
		}
		for ctx.Err() == nil {
			m := own.ReceiveKind(wanted, over)
			if isOver(m) {
				seen = true
				return
			}
			if e, exited := m.(node.Exited); exited && e.From == self {
				seen = true
				return
			}
			if !yield(m.(T)) {
				return
			}
		}
	}
}

// ended is the message that ends a loop. It is known by its address, so it is signalled, and not sent: a node may
// copy what is sent. Nobody changes it, for a node may look for that.
type ended struct{ _ byte } // of a size, for an address of its own

// Receive returns a channel of the messages of type T that come to a handle, the oldest first, for a select with
// other channels; others stay in the mailbox. T may be any. A message leaves the mailbox when it is read from
// the channel, so none is lost: what nobody has read is still there, for the handle or for the next Receive.
//
// The handle is lent to the channel until that is closed. Meanwhile its owner does not receive, send or call by
// it: node.Send and node.Call take its node as well. Links, monitors and aliases may be made. The channel is
// closed when ctx ends, stop is called, or the handle exits. stop returns when the handle is the owner's again;
// nothing is taken afterwards. It may be called again.
//
// A process of a [node.ProcessFunc] cannot be lent, as its kill ends its own goroutine only: it is for handles
// of [node.Node.Open]. Such processes loop over Messages, or have [Channel] start another process.
func Receive[T any](ctx context.Context, h *node.Process) (messages <-chan T, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	dead := context.AfterFunc(h.Context(), cancel)
	values, returned := make(chan T), make(chan struct{})
	go func() { // the receiver: ends with ctx, stop waits for it
		defer close(returned)
		defer close(values)
		defer cancel()
		defer dead()
		//actornode:ignore contextescape the handle is lent to that goroutine alone
		lend(ctx, h, values)
	}()
	return values, func() {
		cancel()
		<-returned
	}
}

// lend puts messages of h into values until ctx ends. A message is offered from within the match: it is taken
// out of the mailbox if a reader has taken it, and only then.
func lend[T any](ctx context.Context, h *node.Process, values chan<- T) {
	over, seen := &ended{}, false
	n, self, own := h.Node(), h.Self(), runner.BlockingOf(h.Inside(process.Key{}).Acting())
	stop := context.AfterFunc(ctx, func() { n.Inside(process.Key{}).Signal(self, over) }) // who is gone needs no end
	for ctx.Err() == nil {
		m := own.ReceiveKind(func(m any) bool {
			if v, ok := m.(T); ok && ctx.Err() == nil && !isEnd(m) {
				select {
				case values <- v:
					return true
				case <-ctx.Done():
				}
			}
			return m == any(over)
		}, over)
		if e, exited := m.(node.Exited); exited && e.From == h.Self() {
			return
		}
		seen = seen || m == any(over)
	}
	if !stop() && !seen {
		h.ReceiveMatch(func(m any) bool { return m == any(over) })
	}
}

// isEnd reports whether a message is that which ends a loop, which nobody else is to see.
func isEnd(m any) bool {
	_, ok := m.(*ended)
	return ok
}

// Channel starts a process and returns a channel of the messages of type T that it gets. It takes the next one
// when the last is in the channel, which holds buffer of them. The channel is closed when ctx ends, or the
// process does; what is in the mailbox then is lost. Messages of other types are logged. o bounds the mailbox,
// names the process, and so on; the errors are those of SpawnOpt.
func Channel[T any](ctx context.Context, from node.Caller, buffer int, o node.Options) (node.PID, <-chan T, error) {
	values := make(chan T, buffer)
	spawn := from.(interface {
		SpawnOpt(node.Options, node.Actor) (node.PID, error)
	})
	pid, err := spawn.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
		defer close(values)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(p.Context(), cancel)()
		for m := range Messages[any](ctx, p) {
			v, ok := m.(T)
			if !ok {
				p.Node().Log().Warn("unexpected message", "pid", p.Self().String(), "message", sysmsg.Brief(p.Node(), m))
				continue
			}
			select {
			case values <- v:
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	}))
	return pid, values, err
}

// Ahead returns the values of a sequence, which a process computes, at most bound more than have been taken. If
// the process ends before the sequence does, because the sequence panics or somebody ends the process, the last
// error is [*node.ExitError]. Each loop has a process of its own, which ends with the loop.
//
// A loop waits for values without giving up a stage: it is for processes and plain goroutines, and not for the
// handler of an Actor.
func Ahead[T any](from node.Caller, bound int, values iter.Seq[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ahead := make(chan T, max(bound-1, 0)) // and one that waits to get in
		whole := false
		var none T
		h, err := from.Inside(process.Key{}).Node().Open()
		if err != nil {
			yield(none, err)
			return
		}
		defer h.Close(nil)
		pid, err := h.SpawnOpt(node.Options{Monitor: new(node.Ref)}, node.ProcessFunc(func(p *node.Process) error {
			defer close(ahead)
			for v := range values {
				select {
				case ahead <- v:
				case <-p.Context().Done():
					return nil
				}
			}
			whole = true
			return nil
		}))
		if err != nil {
			yield(none, err)
			return
		}
		defer h.Exit(pid, node.Kill)
		for v := range ahead {
			if !yield(v, nil) {
				return
			}
		}
		if !whole {
			yield(none, &node.ExitError{Reason: node.ReceiveOf[node.Down](h).Reason})
		}
	}
}

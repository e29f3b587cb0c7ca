package channel

import (
	"context"
	"iter"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
)

// Messages returns the messages of type T that a process or a handle gets, the oldest first, until ctx
// ends; others stay in the mailbox. T may be any. It belongs to the goroutine of p. For a handle it also ends
// when the handle is killed.
func Messages[T any](ctx context.Context, p *node.Process) iter.Seq[T] {
	return Matching[T](ctx, p, nil)
}

// Matching is Messages for the messages for which match returns true; nil means all. match must not use p. The loop
// does not look again at messages that match refused, unless p has received something else meanwhile, so match must
// always give the same answer for a message.
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

// ended is the message that ends a loop. Its address identifies it, so it is signalled, not sent: a node may
// copy what is sent. It never changes, as a node may check that.
type ended struct{ _ byte } // not of size zero, for an address of its own

// Of returns a channel of the messages of type T that a handle gets, the oldest first, for a select with
// other channels; others stay in the mailbox. T may be any. A message leaves the mailbox when it is read from
// the channel, so none is lost: unread messages are still there, for the handle or for the next Of.
//
// The handle is lent to the channel until the channel is closed. Meanwhile its owner must not receive, send or call
// with it: node.Send and node.Call take its node as well. Links, monitors and aliases may be made. The channel is
// closed when ctx ends, stop is called, or the handle exits. stop returns when the owner has the handle back;
// nothing is taken afterwards. It may be called again.
//
// A process of a [node.ProcessFunc] cannot be lent, as a kill ends only its own goroutine: Of is for handles
// of [node.Node.Open]. Such processes loop over Messages, or have [Spawn] start another process.
func Of[T any](ctx context.Context, h *node.Process) (messages <-chan T, stop func()) {
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

// lend puts messages of h into values until ctx ends. It offers a message from within the match: the message leaves
// the mailbox only if a reader has taken it.
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

// isEnd reports whether a message is the one that ends a loop, which nobody else may see.
func isEnd(m any) bool {
	_, ok := m.(*ended)
	return ok
}

// Spawn starts a process and returns a channel of the messages of type T that it gets. The process takes the next one
// when the last is in the channel, which holds buffer messages. The channel is closed when ctx or the process
// ends; messages that are then in the mailbox are lost. A request of another type fails, and other messages of other
// types are logged: see Unknown of [node.Process]. o bounds the mailbox,
// names the process, and so on; the errors are those of SpawnOpt.
func Spawn[T any](ctx context.Context, from node.Caller, buffer int, o node.Options) (node.PID, <-chan T, error) {
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
				p.Unknown(m)
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

// Ahead returns the values of a sequence, which a process computes, at most bound ahead of the loop. If
// the process ends before the sequence does, because the sequence panics or somebody ends the process, the last
// error is a [*node.ExitError]. Each loop has its own process, which ends with the loop.
//
// A loop waits for values without giving up a stage: it is for processes and plain goroutines, not for the
// handler of an Actor.
func Ahead[T any](from node.Caller, bound int, values iter.Seq[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ahead := make(chan T, max(bound-1, 0)) // plus one value that waits to be sent
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

package admin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// ErrLost means that a stream has ended unexpectedly: with the connection, the node or the service.
var ErrLost = errors.New("admin: the stream is lost")

// Stream delivers the events of a node as they happen. It has one reader.
type Stream[T any] struct {
	C <-chan T // closed at the end; see Err

	at      node.Atom
	node    *node.Node
	handle  *node.Process
	me      node.PID // of handle
	source  node.PID // the process on the other node
	ref     node.Ref
	dropped atomic.Uint64
	done    chan struct{} // closed together with C
	stop    context.CancelCauseFunc
	unwatch func() bool // stops the message to handle at the end of ctx
	ctx     context.Context

	mu  sync.Mutex
	err error
	why node.Atom
}

// Trace streams the events of processes on a node. It ends with ctx, Close, the last of the processes, or the loss of the
// node.
func Trace(ctx context.Context, from node.Caller, at node.Atom, q TraceQuery) (*Stream[Event], error) {
	return open[Event](ctx, from, at, "trace", &q, &q.StreamOptions)
}

// DeadLetters streams the dead letters of a node, from now on. It ends with ctx, Close, or the loss of the node.
func DeadLetters(ctx context.Context, from node.Caller, at node.Atom, q LetterQuery) (*Stream[Letter], error) {
	return open[Letter](ctx, from, at, "deadletters", &q, &q.StreamOptions)
}

// Dropped returns how many events did not fit into the buffer on the node, because the reader of C or the connection was
// too slow.
func (s *Stream[T]) Dropped() uint64 { return s.dropped.Load() }

// Close ends the stream and waits until C is closed. Events not yet read are lost.
func (s *Stream[T]) Close() {
	s.stop(errClosed)
	<-s.done
}

// Err returns, once C is closed, the reason: nil after Close or if there are no more events (see [Stream.Why]), [ErrLost],
// or the error of ctx.
func (s *Stream[T]) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Why returns, once C is closed, the reason given by the node: max or exited, or "" if it gave none.
func (s *Stream[T]) Why() node.Atom {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// opened is the answer to a request for a stream.
type opened struct {
	Stream node.PID
	Ref    node.Ref
}

func open[T any](ctx context.Context, from node.Caller, at, what node.Atom, q any, o *StreamOptions) (*Stream[T], error) {
	n := from.Inside(process.Key{}).Node()
	h, err := n.Open()
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	h.TrapExit(true)
	o.To = h.Self()
	var a opened
	if err := askFor(ctx, from, at, what, q, &a); err != nil {
		h.Close(nil)
		return nil, err
	}
	c := make(chan T)
	s := &Stream[T]{C: c, at: at, node: n, handle: h, me: h.Self(), source: a.Stream, ref: a.Ref, done: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	h.Monitor(s.source)
	s.unwatch = context.AfterFunc(s.ctx, func() { n.Send(s.me, limitReached{}) })
	go s.read(c)
	return s, nil
}

// limitReached means that the reader has received as many events as it requested.
type limitReached struct{}

// errClosed is the cause of the stream's end after Close.
var errClosed = errors.New("admin: closed")

// read is the reader's goroutine: started by open, ended by Close, or by the stream's end or loss. Close waits for it.
func (s *Stream[T]) read(c chan<- T) {
	defer close(s.done)
	defer close(c)
	defer s.handle.Close(nil)
	over, err := false, error(nil)
	for !over {
		over, err = s.take(c, s.handle.Receive())
	}
	s.unwatch() // the message would become a dead letter
	switch cause := context.Cause(s.ctx); {
	case cause == errClosed:
		err = nil
	case cause != nil:
		err = cause
	}
	s.stop(errClosed)
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
}

// take handles a message to the reader.
func (s *Stream[T]) take(c chan<- T, msg any) (over bool, err error) {
	switch m := msg.(type) {
	case limitReached:
		s.leave()
		return true, nil
	case node.Exited: // this node is stopping
		return true, fmt.Errorf("%w: %w", ErrLost, &node.ExitError{Reason: m.Reason})
	case node.Down:
		return true, fmt.Errorf("%w: %s: %w", ErrLost, s.at, &node.ExitError{Reason: m.Reason})
	case wire.Tuple:
		if len(m) == 3 && m[0] == Name && m[1] == s.ref {
			return s.news(c, m[2])
		}
	}
	return false, nil
}

// news handles {events, [Event], Dropped} or {ended, Why}.
func (s *Stream[T]) news(c chan<- T, body any) (over bool, err error) {
	t, _ := body.(wire.Tuple)
	switch {
	case len(t) == 2 && t[0] == wire.Atom("ended"):
		s.mu.Lock()
		s.why, _ = t[1].(wire.Atom)
		s.mu.Unlock()
		return true, nil
	case len(t) != 3 || t[0] != wire.Atom("events"):
		return false, nil
	}
	if dropped, ok := wire.AsInt(t[2]); ok {
		s.dropped.Store(uint64(dropped))
	}
	events, _ := wire.AsList(t[1])
	for _, term := range events {
		var e T
		if err := etf.FromTerm(term, &e); err != nil {
			return true, fmt.Errorf("admin: an event of %s: %w", s.at, err)
		}
		select {
		case c <- e:
		case <-s.ctx.Done():
			s.leave()
			return true, nil
		}
	}
	s.node.Send(s.source, wire.Tuple{wire.Atom("more"), len(events)})
	return false, nil
}

// leave tells the other end to stop and receives the messages in flight, so that they do not become dead letters; after
// patience they do.
func (s *Stream[T]) leave() {
	s.node.Send(s.source, wire.Atom("stop"))
	s.handle.ReceiveWithin(patience, func(m any) bool {
		_, down := m.(node.Down)
		_, exited := m.(node.Exited)
		return down || exited
	})
}

// patience bounds the wait for the end of a stream.
const patience = time.Second

// Package futures combines futures, and continues an Actor when a future is completed.
//
//	futures.All(c, f, g, h)            all values, or the first error
//	futures.First(c, f, g, h)          the first value
//	futures.InOrder(c, f, g, h)        one after the other, as they come
//	futures.Each(c, f, g, h)           the same as an iterator
//	futures.Chain(c, f, next)          what next makes of the value of f: m1 @ m2 of SALSA
//	futures.GoWith(c, o, method, f)    the result of a method, called with the value of f
//	futures.Send(c, to, f, message)    sends a message made from the value of f
//	futures.Within(c, d, f)            f, which fails if nothing has come within d
//	futures.Then(c, f, do)             do is called in the Actor when f is completed
//	futures.Ask[R](c, to, req)         a request of an Actor, to go on with Within and Then
//
// The functions return futures like any other. Each style awaits them in its own way: by
// [node.Await], by active.Await, by [Then], or as a message, by [Send] or Future.SendTo. To join several calls
// into one message, use All and Send. The futures may come from anywhere: calls, methods of active objects, other
// nodes.
//
// An Actor that asks another, and goes on with other messages until there is an answer:
//
//	futures.Ask[int](c, shop, item).Within(time.Second).Then(func(c *node.Context, cents int, err error) error {
//		…
//	})
//
// Nouns: the inputs are the futures that are passed in, and the result is the one that is returned.
//
// # Invariants
//
//  1. A result is completed once, at the latest with the last input. The exit of an input's process
//     completes that input.
//
//  2. When a result is completed, by its inputs or because somebody gives up on it, nothing of it is left at the
//     inputs. The inputs themselves go on, and can be read: this package does not give up on them.
//
//  3. The function given to Then is called once, in the Actor's turn, or never, if its process ends before. The
//     Actor has its own behaviour again when no such call is left.
//
// With Config.DetectCycles of the node, a wait for a future of All, Chain or GoWith, or in a range over Each, is a wait
// for the inputs: the wait that closes a cycle fails with [node.ErrCycle], though another input might have failed first.
// The inputs of First, for which one is enough, do not count.
//
// The package has no goroutine: completing an input may complete the result, on the same goroutine. Within has a timer.
package futures

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

var errNone = errors.New("futures: there is no first of no futures")

// Success is an input that has a value, for First and InOrder.
type Success[R any] struct {
	Index int
	Value R
}

// InputError is the failure of an input.
type InputError struct {
	Index int // of the input among the arguments
	Err   error
}

func (e *InputError) Error() string { return fmt.Sprintf("future %d: %v", e.Index, e.Err) }

// Unwrap returns the error of the input.
func (e *InputError) Unwrap() error { return e.Err }

// All returns a future of the values of all futures, in the order of the arguments. It fails as soon as
// one of them does, with an [*InputError]. With no inputs it is completed
// at once.
func All[R any](from node.Caller, inputs ...*node.Future[R]) *node.Future[[]R] {
	values := make([]R, len(inputs))
	result := combine(from, inputs, values, nil, func(i int, v R, err error, last bool) ([]R, error, bool) {
		if err != nil {
			return nil, failure(i, err), true
		}
		values[i] = v
		return values, nil, last
	})
	_ = needs(from, result, inputs...) // nobody can wait for it yet
	return result
}

// First returns a future of the first value. If all inputs fail, or there are none, it fails with their
// errors, each an [*InputError], joined in the order of the arguments.
func First[R any](from node.Caller, inputs ...*node.Future[R]) *node.Future[Success[R]] {
	failures := make([]error, len(inputs))
	return combine(from, inputs, Success[R]{}, errNone, func(i int, v R, err error, last bool) (Success[R], error, bool) {
		if err == nil {
			return Success[R]{i, v}, nil, true
		}
		failures[i] = failure(i, err)
		if !last {
			return Success[R]{}, nil, false
		}
		return Success[R]{}, errors.Join(failures...), true
	})
}

func failure(i int, err error) error { return &InputError{i, err} }

// InOrder returns as many futures as there are inputs. The first is completed by the input that is completed first, with
// its value or an [*InputError], the second by the next, and so on:
//
//	for _, f := range futures.InOrder(c, inputs...) {
//		next, err := node.Await(ctx, c, f)
//		…
//	}
func InOrder[R any](from node.Caller, inputs ...*node.Future[R]) []*node.Future[Success[R]] {
	results := make([]*node.Future[Success[R]], len(inputs))
	var w watching
	wanted, next := len(inputs), 0 // under w.mu
	for i := range results {
		results[i] = new(node.Future[Success[R]])
		from.Inside(process.Key{}).Open(results[i])
		from.Inside(process.Key{}).Watch(results[i], func(node.Caller) {
			w.mu.Lock()
			wanted--
			none := wanted == 0
			w.mu.Unlock()
			if none {
				w.end()
			}
		})
	}
	for i, input := range inputs {
		w.add(from.Inside(process.Key{}).Watch(input, func(by node.Caller) {
			value, _, err := input.Result()
			if err != nil {
				err = failure(i, err)
			}
			w.mu.Lock()
			result := results[next]
			next++
			w.mu.Unlock()
			by.Inside(process.Key{}).Settle(result, Success[R]{i, value}, err, nil)
		}))
	}
	if len(results) > 0 { // the last one waits for all inputs
		_ = needs(from, results[len(results)-1], inputs...) // nobody can wait for it yet
	}
	return results
}

// Chain returns a future that is completed as the future that next returns. next is called with the
// value of the input, on the goroutine that completes the input, for which from stands: next must not wait. If the
// input fails, the result fails with the same error, and next is not called. If next panics, the result
// fails with a *node.ExitError with a *node.Crash.
func Chain[A, B any](from node.Caller, input *node.Future[A], next func(from node.Caller, v A) *node.Future[B]) *node.Future[B] {
	result := &node.Future[B]{}
	from.Inside(process.Key{}).Open(result)
	_ = needs(from, result, input) // nobody can wait for it yet
	var w watching
	from.Inside(process.Key{}).Watch(result, func(node.Caller) { w.end() })
	w.add(from.Inside(process.Key{}).Watch(input, func(by node.Caller) {
		v, _, err := input.Result()
		var second *node.Future[B]
		if err == nil {
			second, err = called(next, by, v)
		}
		if err != nil {
			by.Inside(process.Key{}).Settle(result, nil, err, nil)
			return
		}
		if err := needs(by, result, second); err != nil {
			by.Inside(process.Key{}).Settle(result, nil, err, nil)
			return
		}
		w.add(by.Inside(process.Key{}).Watch(second, func(by node.Caller) {
			v, _, err := second.Result()
			by.Inside(process.Key{}).Settle(result, v, err, nil)
		}))
	}))
	return result
}

// called calls next, and turns a panic into an error.
func called[A, B any](next func(node.Caller, A) *node.Future[B], from node.Caller, v A) (f *node.Future[B], err error) {
	defer func() {
		if f == nil && err == nil {
			err = &node.ExitError{Reason: node.Panicked(recover())}
		}
	}()
	f = next(from, v)
	return f, nil
}

// Within gives up on a future after d, for all that wait for it: it then fails with [node.ErrTimeout]. Within
// returns that future.
func Within[R any](from node.Caller, d time.Duration, f *node.Future[R]) *node.Future[R] {
	n := from.Inside(process.Key{}).Node()
	t := time.AfterFunc(d, func() { n.Inside(process.Key{}).Settle(f, nil, node.ErrTimeout, nil) })
	from.Inside(process.Key{}).Watch(f, func(node.Caller) { t.Stop() })
	return f
}

// needs records, for Config.DetectCycles, that a result waits for all inputs, until it is completed. The
// error is [node.ErrCycle] if one of them waits for the result.
func needs[R, S any](from node.Caller, result *node.Future[R], inputs ...*node.Future[S]) error {
	sys := from.Inside(process.Key{}).Acting().System
	if sys.Cycles == nil {
		return nil
	}
	own := result.Inside(process.Key{}).Ticket()
	aims := make([]calls.WaitAim[process.Waiter], len(inputs))
	for i, input := range inputs {
		aims[i] = process.Aim(input.Inside(process.Key{}).Ticket(), func() bool { return own.Call.Waiting(own.N) })
	}
	who := process.Waiter{Own: own}
	err := process.CycleError(sys.Cycles.Add(who, calls.WaitFuture, aims...))
	from.Inside(process.Key{}).Watch(result, func(node.Caller) { sys.Cycles.Remove(who) })
	return err
}

// combine returns a future that is completed when next says that it is over. next is called for each
// input in the order in which they are completed, by one goroutine at a time; last: no other is left.
// With no inputs the result is none and empty.
func combine[R, S any](from node.Caller, inputs []*node.Future[R], none S, empty error,
	next func(i int, v R, err error, last bool) (S, error, bool)) *node.Future[S] {
	result := &node.Future[S]{}
	from.Inside(process.Key{}).Open(result)
	if len(inputs) == 0 {
		from.Inside(process.Key{}).Settle(result, none, empty, nil)
		return result
	}
	var w watching
	from.Inside(process.Key{}).Watch(result, func(node.Caller) { w.end() })
	left := len(inputs) // under w.mu
	for i, input := range inputs {
		w.add(from.Inside(process.Key{}).Watch(input, func(by node.Caller) {
			value, _, err := input.Result()
			w.mu.Lock()
			if w.over {
				w.mu.Unlock()
				return
			}
			left--
			reply, err, over := next(i, value, err, left == 0)
			w.over = over
			w.mu.Unlock()
			if over {
				by.Inside(process.Key{}).Settle(result, reply, err, nil)
			}
		}))
	}
	return result
}

// watching is what a result leaves at its inputs.
type watching struct {
	mu    sync.Mutex
	over  bool // no other input counts
	stops []func()
}

func (w *watching) add(stop func()) {
	w.mu.Lock()
	if !w.over {
		w.stops = append(w.stops, stop)
		stop = nil
	}
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

func (w *watching) end() {
	w.mu.Lock()
	stops := w.stops
	w.over, w.stops = true, nil
	w.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

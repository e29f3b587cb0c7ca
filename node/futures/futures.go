// Package futures makes one future of several.
//
// What its functions return is a future like any other: each style awaits it in its own way, by
// [node.Await], by active.Await, or by Future.SendTo as a message. The futures may be of any origin:
// calls, methods of active objects, other nodes.
//
// Nouns: the inputs are the futures that are passed in, and the result is the one that is returned.
//
// # Invariants
//
//  1. A result is completed once. With the last input it is completed at the latest: inputs whose
//     process exits are, too.
//  2. When a result is completed, by its inputs or by who gives up on it, nothing of it is left at the
//     inputs. The inputs themselves go on, and can be read: nobody gives up on them here.
//
// The package has no goroutine: who completes an input may complete the result.
package futures

import (
	"errors"
	"fmt"
	"sync"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node"
)

var errNone = errors.New("futures: there is no first of no futures")

// Success is the input that First has found, and its value.
type Success[R any] struct {
	Index int
	Value R
}

// All returns a future of the values of all futures, in the order of the arguments. It fails as soon as
// one of them does, with what that fails with and its index in the text. The values of no futures are
// there at once.
func All[R any](from node.Caller, inputs ...*node.Future[R]) *node.Future[[]R] {
	values := make([]R, len(inputs))
	return combine(from, inputs, values, nil, func(i int, v R, err error, last bool) ([]R, error, bool) {
		if err != nil {
			return nil, failure(i, err), true
		}
		values[i] = v
		return values, nil, last
	})
}

// First returns a future of the first value that is there. If all futures fail it does, with their
// errors joined in the order of the arguments, the index in the text of each; so it does if there are none.
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

func failure(i int, err error) error { return fmt.Errorf("future %d: %w", i, err) }

// combine returns a future that is completed when next says that it is over. next is called for each
// input in the order in which they are completed, by one goroutine at a time; last: no other is left.
// Of no inputs the result is none and empty.
func combine[R, S any](from node.Caller, inputs []*node.Future[R], none S, empty error,
	next func(i int, v R, err error, last bool) (S, error, bool)) *node.Future[S] {
	result := &node.Future[S]{}
	nodehook.Open(from, result)
	if len(inputs) == 0 {
		nodehook.Settle(from, result, none, empty, nil)
		return result
	}
	var w watching
	nodehook.Watch(from, result, func(any) { w.end() })
	left := len(inputs) // under w.mu
	for i, input := range inputs {
		w.add(nodehook.Watch(from, input, func(by any) {
			value, err := input.Poll(0)
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
				nodehook.Settle(by, result, reply, err, nil)
			}
		}))
	}
	return result
}

// watching is what a result has left at its inputs.
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

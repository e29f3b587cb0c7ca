package futures

import (
	"context"
	"errors"
	"iter"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
)

// Outcome is the value or error that a future was completed with.
type Outcome[R any] struct {
	Value R
	Err   error
}

// Each yields the inputs in the order in which they are completed: the index of each among the arguments, and its
// outcome:
//
//	for i, r := range futures.Each(c, inputs...) {
//		if r.Err != nil {
//			…
//		}
//	}
//
// Between two of them it waits in the way that suits from: a method of an active object is suspended, an
// Actor gives up its stage, and a goroutine, with a *node.Node for from, waits until the future is completed: see
// [Within]. If the process of from ends meanwhile, and its code goes on, the last pair has the index -1 and the
// error of the wait. Leaving the loop early leaves nothing at the inputs.
func Each[R any](from node.Caller, inputs ...*node.Future[R]) iter.Seq2[int, Outcome[R]] {
	return func(yield func(int, Outcome[R]) bool) {
		results := InOrder(from, inputs...)
		defer func() {
			for _, rest := range results {
				rest.Cancel()
			}
		}()
		for len(results) > 0 {
			s, err := wait(from, results[0])
			i, failed := s.Index, (*InputError)(nil)
			if errors.As(err, &failed) {
				i, err = failed.Index, failed.Err
			} else if err != nil {
				yield(-1, Outcome[R]{Err: err})
				return
			}
			results = results[1:]
			if !yield(i, Outcome[R]{s.Value, err}) {
				return
			}
		}
	}
}

// wait waits for a future in the way that suits from.
func wait[R any](from node.Caller, f *node.Future[R]) (R, error) {
	switch c := from.(type) {
	case *active.Context:
		return active.Await(c, f)
	case interface{ Context() context.Context }:
		return node.Await(c.Context(), from, f)
	}
	return node.Await(context.Background(), from, f)
}

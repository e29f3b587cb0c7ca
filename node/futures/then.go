package futures

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/internal/filter"
)

// Then has do called in the Actor whose handler runs, in a separate turn, when f is completed: with its
// value or its error. Until then the Actor handles other messages. The result of do
// counts like that of a handler: an error ends the process. do may ask again, and call Then again. A
// process that is not an Actor uses [node.Await], and a method of an active object active.Await: Then panics there.
func Then[R any](c *node.Context, f *node.Future[R], do func(c *node.Context, v R, err error) error) {
	before, err := filter.Of(c)
	if err != nil {
		panic("futures: Then is for Actors: a method of an active object awaits a future by active.Await")
	}
	all, ok := filter.PartOf[*continuations](before)
	if !ok {
		all = &continuations{}
		before.Add(all)
	}
	all.left++
	f.SendTo(c.Self(), &continuation{func(c *node.Context) error {
		v, _, err := f.Result()
		return do(c, v, err)
	}})
}

// continuation is the tag of the result to continue with.
type continuation struct{ do func(c *node.Context) error }

// continuations is a filter in front of an Actor's behaviour while continuations are left to call.
type continuations struct{ left int }

// Receive is part of filter.Part.
func (a *continuations) Receive(c *node.Context, msg any) (taken bool, err error) {
	r, _ := msg.(node.Result)
	next, ok := r.Tag.(*continuation)
	if !ok {
		return false, nil
	}
	a.left--
	return true, next.do(c)
}

// Received is part of filter.Part.
func (a *continuations) Received(*node.Context, error) {}

// Needed is part of filter.Part.
func (a *continuations) Needed() bool { return a.left > 0 }

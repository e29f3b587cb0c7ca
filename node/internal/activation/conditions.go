package activation

import (
	"reflect"
	"slices"
)

// What an evaluation may cost a step. With up to few activations that wait, each of them is evaluated after each step,
// in the order of waiting. With more of them it is the oldest of each kind of the object that has run, and each of the
// others in its turn, eachStep of them after a step. The rest waits until nothing else is to be done: see Group.Turn.
const (
	few      = 16
	eachStep = 8
)

// conditions are the activations that wait for one, in the order of waiting.
//
// Invariants:
//
//  1. seen of an activation is the last step after which its condition did not hold. It is not evaluated again before
//     another step is over.
//  2. unsure is how many of them have a seen that is not the present step.
//  3. kinds is nil, as from when few wait until there are more, or has all of them. Of those of one kind the first holds
//     first: another is never picked before it has been evaluated after this step.
type conditions struct {
	first, last *Activation
	n           int
	unsure      int
	step        uint64             // how many steps are over
	credit      int                // how many may still be evaluated for the present step
	sweep       *Activation        // whose turn it is where not all are evaluated; nil: that of the first
	kinds       map[uint64]*object // by its number
	spare       *wait              // for the next that waits; nil: none
}

// object is the activations that wait in methods of one object.
type object struct {
	n     int
	kinds []*kind
}

// kind is the activations that wait in methods of one object for conditions with the same code. They can differ in what
// their functions have captured, which nobody can see.
type kind struct {
	code        uintptr
	object      *object
	first, last *Activation
}

// wait is what an activation has while it waits for its condition.
type wait struct {
	condition func() bool
	number    uint64 // counts up
	seen      uint64

	before, behind         *Activation
	kind                   *kind // nil: there are no kinds
	kindBefore, kindBehind *Activation
}

// over is the end of a step: any condition may hold now.
func (c *conditions) over() {
	c.step++
	c.unsure, c.credit = c.n, eachStep
}

// add has a wait for a condition, which does not hold after the present step.
func (c *conditions) add(a *Activation, condition func() bool) {
	w := c.spare
	if c.spare = nil; w == nil {
		w = new(wait)
	}
	*w = wait{condition: condition, number: c.step, seen: c.step, before: c.last}
	a.wait = w
	if c.last == nil {
		c.first = a
	} else {
		c.last.wait.behind = a
	}
	c.last = a
	c.n++
	switch {
	case c.kinds != nil:
		c.sort(a)
	case c.n > few:
		c.kinds = make(map[uint64]*object)
		for a := c.first; a != nil; a = a.wait.behind {
			c.sort(a)
		}
	}
}

// sort adds a, the last of those that have a kind, to its kind.
func (c *conditions) sort(a *Activation) {
	o := c.kinds[a.Object]
	if o == nil {
		o = new(object)
		c.kinds[a.Object] = o
	}
	code := reflect.ValueOf(a.wait.condition).Pointer()
	i := slices.IndexFunc(o.kinds, func(k *kind) bool { return k.code == code })
	if i < 0 {
		i = len(o.kinds)
		o.kinds = append(o.kinds, &kind{code: code, object: o})
	}
	k := o.kinds[i]
	o.n++
	a.wait.kind, a.wait.kindBefore, a.wait.kindBehind = k, k.last, nil
	if k.last == nil {
		k.first = a
	} else {
		k.last.wait.kindBehind = a
	}
	k.last = a
}

// take takes a out, which is to go on.
func (c *conditions) take(a *Activation) *Activation {
	w := a.wait
	if c.sweep == a {
		c.sweep = w.behind
	}
	if w.before == nil {
		c.first = w.behind
	} else {
		w.before.wait.behind = w.behind
	}
	if w.behind == nil {
		c.last = w.before
	} else {
		w.behind.wait.before = w.before
	}
	c.n--
	c.unsure--
	if c.kinds != nil {
		c.unsort(a)
	}
	*w = wait{}
	a.wait, c.spare = nil, w
	return a
}

// unsort takes a out of its kind. When half of few are left there are no kinds any more.
func (c *conditions) unsort(a *Activation) {
	w, k := a.wait, a.wait.kind
	if c.n <= few/2 {
		c.kinds, c.sweep = nil, nil
		return
	}
	if w.kindBefore == nil {
		k.first = w.kindBehind
	} else {
		w.kindBefore.wait.kindBehind = w.kindBehind
	}
	if w.kindBehind == nil {
		k.last = w.kindBefore
	} else {
		w.kindBehind.wait.kindBefore = w.kindBefore
	}
	if k.object.n--; k.object.n == 0 {
		delete(c.kinds, a.Object)
	}
}

// pick takes out an activation whose condition holds, after a step of an object; nil: none has been found. Beside those
// that each step evaluates it evaluates extra ones.
func (c *conditions) pick(object uint64, extra int) *Activation {
	if c.unsure == 0 {
		return nil
	}
	if c.n <= few || c.kinds == nil {
		for a := c.first; a != nil; a = a.wait.behind {
			if c.holds(a) {
				return c.take(a)
			}
		}
		return nil
	}
	if a := c.oldest(object); a != nil {
		return c.take(a)
	}
	for c.credit += extra; c.credit > 0 && c.unsure > 0; c.credit-- {
		a := c.sweep
		if a == nil {
			a = c.first
		}
		if !c.holds(a) {
			c.sweep = a.wait.behind
			continue
		}
		if k := a.wait.kind.first; k != a && c.holds(k) {
			a = k
		}
		return c.take(a)
	}
	return nil
}

// oldest returns which of the first of each kind of an object has waited for longest of those whose condition holds.
func (c *conditions) oldest(number uint64) (a *Activation) {
	o := c.kinds[number]
	if o == nil {
		return nil
	}
	for _, k := range o.kinds {
		if k.first != nil && c.holds(k.first) && (a == nil || k.first.wait.number < a.wait.number) {
			a = k.first
		}
	}
	return a
}

// holds evaluates the condition of a, unless that has been done since the last step was over.
func (c *conditions) holds(a *Activation) bool {
	if a.wait.seen == c.step {
		return false
	}
	if a.holds() {
		return true
	}
	a.wait.seen = c.step
	c.unsure--
	return false
}

// holds evaluates the condition of a. One that panics holds, for its activation panics then.
func (a *Activation) holds() (ok bool) {
	defer func() {
		if !ok {
			if cause := recover(); cause != nil {
				a.broken, ok = &cause, true
			}
		}
	}()
	return a.wait.condition()
}

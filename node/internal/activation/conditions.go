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
//  3. Of those of one kind the first holds first: another is never picked before it has been evaluated after this step.
type conditions struct {
	first, last *Activation
	n           int
	unsure      int
	step        uint64             // how many steps are over
	credit      int                // how many may still be evaluated for the present step
	sweep       *Activation        // whose turn it is where not all are evaluated; nil: that of the first
	kinds       map[uint64][]*kind // by the object
}

// kind is the activations that wait in methods of one object for conditions with the same code. They can differ in what
// their functions have captured, which nobody can see.
type kind struct {
	code        uintptr
	first, last *Activation
}

// place is where an activation stands among those that wait for conditions.
type place struct {
	number uint64 // counts up
	kind   *kind
	seen   uint64

	before, behind         *Activation
	kindBefore, kindBehind *Activation
}

// over is the end of a step: any condition may hold now.
func (c *conditions) over() {
	c.step++
	c.unsure, c.credit = c.n, eachStep
}

// add has a wait for its condition, which does not hold after the present step.
func (c *conditions) add(a *Activation) {
	code := reflect.ValueOf(a.condition).Pointer()
	of := c.kinds[a.Object]
	i := slices.IndexFunc(of, func(k *kind) bool { return k.code == code })
	if i < 0 {
		if c.kinds == nil {
			c.kinds = make(map[uint64][]*kind)
		}
		i = len(of)
		of = append(of, &kind{code: code})
		c.kinds[a.Object] = of
	}
	k := of[i]
	a.place = place{number: c.step, kind: k, seen: c.step, before: c.last, kindBefore: k.last}
	if c.last == nil {
		c.first = a
	} else {
		c.last.behind = a
	}
	if k.last == nil {
		k.first = a
	} else {
		k.last.kindBehind = a
	}
	c.last, k.last = a, a
	c.n++
}

// take takes a out, which is to go on.
func (c *conditions) take(a *Activation) *Activation {
	p := &a.place
	if c.sweep == a {
		c.sweep = p.behind
	}
	if p.before == nil {
		c.first = p.behind
	} else {
		p.before.behind = p.behind
	}
	if p.behind == nil {
		c.last = p.before
	} else {
		p.behind.before = p.before
	}
	k := p.kind
	if p.kindBefore == nil {
		k.first = p.kindBehind
	} else {
		p.kindBefore.kindBehind = p.kindBehind
	}
	if p.kindBehind == nil {
		k.last = p.kindBefore
	} else {
		p.kindBehind.kindBefore = p.kindBefore
	}
	if k.first == nil {
		c.forget(a.Object, k)
	}
	c.n--
	c.unsure--
	a.condition, a.place = nil, place{}
	return a
}

// forget takes away a kind of which none waits.
func (c *conditions) forget(object uint64, k *kind) {
	of := c.kinds[object]
	i := slices.Index(of, k)
	if of = slices.Delete(of, i, i+1); len(of) == 0 {
		delete(c.kinds, object)
		return
	}
	c.kinds[object] = of
}

// pick takes out an activation whose condition holds, after a step of an object; nil: none has been found. Beside those
// that each step evaluates it evaluates extra ones.
func (c *conditions) pick(object uint64, extra int) *Activation {
	if c.unsure == 0 {
		return nil
	}
	if c.n <= few {
		for a := c.first; a != nil; a = a.behind {
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
			c.sweep = a.behind
			continue
		}
		if k := a.kind.first; k != a && c.holds(k) {
			a = k
		}
		return c.take(a)
	}
	return nil
}

// oldest returns which of the first of each kind of an object has waited for longest of those whose condition holds.
func (c *conditions) oldest(object uint64) *Activation {
	of := c.kinds[object]
	if len(of) > 1 {
		slices.SortFunc(of, func(k, l *kind) int { return int(int64(k.first.number - l.first.number)) })
	}
	for _, k := range of {
		if c.holds(k.first) {
			return k.first
		}
	}
	return nil
}

// holds evaluates the condition of a, unless that has been done since the last step was over.
func (c *conditions) holds(a *Activation) bool {
	if a.seen == c.step {
		return false
	}
	if a.holds() {
		return true
	}
	a.seen = c.step
	c.unsure--
	return false
}

// holds evaluates the condition of a. One that panics holds, for its activation panics then.
func (a *Activation) holds() (ok bool) {
	defer func() {
		if !ok {
			if a.cause = recover(); a.cause != nil {
				ok = true
			}
		}
	}()
	return a.condition()
}

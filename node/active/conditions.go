package active

import (
	"reflect"
	"slices"
)

// Limits for evaluations after a step. While at most few activations wait, all are evaluated after each step,
// in the order of waiting. With more, the oldest of each kind of the object that has run is evaluated, and the
// others in turn, eachStep of them after a step. The rest waits until there is nothing else to do: see thread.Turn.
const (
	few      = 16
	eachStep = 8
)

// conditions are the activations that wait for a condition, in the order of waiting.
//
// Invariants:
//
//  1. seen of an activation is the last step after which its condition did not hold. The condition is not evaluated again
//     before another step is over.
//  2. unsure is how many of them have a seen other than the current step.
//  3. kinds is nil, or holds all of them: more than few waiting make it, and half of few drop it. The first of a kind
//     comes first: another is never picked before the first has been evaluated after this step.
type conditions struct {
	all    list
	n      int
	unsure int
	step   uint64             // how many steps are over
	credit int                // how many may still be evaluated for the current step
	sweep  *activation        // whose turn it is if not all are evaluated; nil: the first
	kinds  map[uint64]*object // by the object's number
	spare  *waitState         // for the next that waits; nil: none
}

// object holds the activations that wait in methods of one object.
type object struct {
	n     int
	kinds []*conditionKind
}

// conditionKind holds the activations that wait in methods of one object for conditions with the same code. Their
// functions may have captured different values, which cannot be seen from outside.
type conditionKind struct {
	code   uintptr
	object *object
	list
}

// list holds activations in the order of waiting. Each activation is in two lists: that of all, and that of its kind.
type list struct {
	first, last *activation
	which       int // ofAll or ofKind
}

const (
	ofAll = iota
	ofKind
)

// add adds a behind all others.
func (l *list) add(a *activation) {
	a.wait.links[l.which] = links{before: l.last}
	if l.last == nil {
		l.first = a
	} else {
		l.last.wait.links[l.which].behind = a
	}
	l.last = a
}

// remove removes a.
func (l *list) remove(a *activation) {
	at := a.wait.links[l.which]
	if at.before == nil {
		l.first = at.behind
	} else {
		at.before.wait.links[l.which].behind = at.behind
	}
	if at.behind == nil {
		l.last = at.before
	} else {
		at.behind.wait.links[l.which].before = at.before
	}
}

// waitState is the state of an activation while it waits for its condition.
type waitState struct {
	condition func() bool
	number    uint64 // counts up
	seen      uint64

	kind  *conditionKind // nil: there are no kinds
	links [2]links       // in the lists ofAll and ofKind
}

// links are an activation's neighbours in a list.
type links struct{ before, behind *activation }

// over ends a step: any condition may hold now.
func (c *conditions) over() {
	c.step++
	c.unsure, c.credit = c.n, eachStep
}

// add makes a wait for a condition that does not hold after the current step.
func (c *conditions) add(a *activation, condition func() bool) {
	w := c.spare
	if c.spare = nil; w == nil {
		w = new(waitState)
	}
	*w = waitState{condition: condition, number: c.step, seen: c.step}
	a.wait = w
	c.all.add(a)
	c.n++
	switch {
	case c.kinds != nil:
		c.sort(a)
	case c.n > few:
		c.kinds = make(map[uint64]*object)
		for a := c.all.first; a != nil; a = a.behind() {
			c.sort(a)
		}
	}
}

// sort adds a to its kind. a waits after all others that have a kind.
func (c *conditions) sort(a *activation) {
	o := c.kinds[a.Object]
	if o == nil {
		o = new(object)
		c.kinds[a.Object] = o
	}
	code := reflect.ValueOf(a.wait.condition).Pointer()
	i := slices.IndexFunc(o.kinds, func(k *conditionKind) bool { return k.code == code })
	if i < 0 {
		i = len(o.kinds)
		o.kinds = append(o.kinds, &conditionKind{code: code, object: o, list: list{which: ofKind}})
	}
	k := o.kinds[i]
	o.n++
	a.wait.kind = k
	k.add(a)
}

// behind returns the activation that began to wait next after a.
func (a *activation) behind() *activation { return a.wait.links[ofAll].behind }

// take removes a, which will go on.
func (c *conditions) take(a *activation) *activation {
	w := a.wait
	if c.sweep == a {
		c.sweep = a.behind()
	}
	c.all.remove(a)
	c.n--
	c.unsure--
	if c.kinds != nil {
		c.unsort(a)
	}
	*w = waitState{}
	a.wait, c.spare = nil, w
	return a
}

// unsort removes a from its kind. When only half of few are left, it drops the kinds.
func (c *conditions) unsort(a *activation) {
	if c.n <= few/2 {
		c.kinds, c.sweep = nil, nil
		return
	}
	k := a.wait.kind
	k.remove(a)
	if k.object.n--; k.object.n == 0 {
		delete(c.kinds, a.Object)
	}
}

// pick removes and returns an activation whose condition holds, after a step of an object; nil: it found none. It
// evaluates extra conditions besides those of each step.
func (c *conditions) pick(object uint64, extra int) *activation {
	if c.unsure == 0 {
		return nil
	}
	if c.n <= few || c.kinds == nil {
		for a := c.all.first; a != nil; a = a.behind() {
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
			a = c.all.first
		}
		if !c.holds(a) {
			c.sweep = a.behind()
			continue
		}
		if k := a.wait.kind.first; k != a && c.holds(k) {
			a = k
		}
		return c.take(a)
	}
	return nil
}

// oldest looks at the first activation of each kind of an object, and returns the longest waiting one whose condition
// holds.
func (c *conditions) oldest(number uint64) (a *activation) {
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

// holds evaluates the condition of a, unless it has been evaluated since the last step was over.
func (c *conditions) holds(a *activation) bool {
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

// holds evaluates the condition of a. A condition that panics holds: its activation then panics.
func (a *activation) holds() (ok bool) {
	defer func() {
		if !ok {
			if cause := recover(); cause != nil {
				a.broken, ok = &cause, true
			}
		}
	}()
	return a.wait.condition()
}

package pg

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/internal/termkey"
	"github.com/actornode/actornode/wire"
)

// table is what a scope knows, for any number of readers: the ets table of pg.erl.
// Its one writer is the scope's process.
//
// Invariants:
//
//  1. No two groups have the same term, as [wire.Equal] sees it: plain holds
//     those whose term, in the form of package termkey, Go's == distinguishes, terms the
//     others.
//  2. A view never changes. The slices of a later one may share its memory, for
//     they are only appended to.
//  3. A group without members and watchers is in no table.
//  4. A goroutine that has a *group may go on reading it: one that was taken out is empty.
type table struct {
	plain sync.Map // term → *group
	mu    sync.RWMutex
	terms wire.Map // term → *group

	// What other nodes use of the limits, to be shown.
	heldMembers, heldGroups atomic.Int64
}

// group is one group.
type group struct {
	term any
	view atomic.Pointer[view]

	// The scope's process only.
	watchers map[node.Ref]node.PID
	holders  int // peers with members here, and watchers of other nodes
	weight   int // as weigh returns it; 0: not known yet
}

// view is the members of a group at one time; a process is in it as often as it has
// joined.
type view struct{ all, local []node.PID }

var empty view

// find returns the group with the term, nil: there is none.
func (t *table) find(term any) *group {
	if term, plain := termkey.Of(term); plain {
		g, _ := t.plain.Load(term)
		found, _ := g.(*group)
		return found
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	g, _ := t.terms.Get(term)
	found, _ := g.(*group)
	return found
}

// need is find, and makes the group if there is none.
func (t *table) need(term any) *group {
	if g := t.find(term); g != nil {
		return g
	}
	term, plain := termkey.Of(term)
	g := &group{term: term}
	g.view.Store(&empty)
	if plain {
		t.plain.Store(term, g)
		return g
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.terms.Put(term, g)
	return g
}

// tidy takes g out if it is of no more use.
func (t *table) tidy(g *group) {
	if len(g.view.Load().all) > 0 || len(g.watchers) > 0 {
		return
	}
	if _, plain := termkey.Of(g.term); plain {
		t.plain.Delete(g.term)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.terms.Delete(g.term)
}

// groups yields all groups that somebody is in.
func (t *table) groups() iter.Seq2[*group, *view] {
	return func(yield func(*group, *view) bool) {
		var all []*group
		t.plain.Range(func(_, g any) bool { all = append(all, g.(*group)); return true })
		t.mu.RLock()
		for _, g := range t.terms.Unordered() {
			all = append(all, g.(*group))
		}
		t.mu.RUnlock()
		for _, g := range all {
			if v := g.view.Load(); len(v.all) > 0 && !yield(g, v) {
				return
			}
		}
	}
}

// look returns the members of the group with the term.
func (t *table) look(term any) *view {
	if g := t.find(term); g != nil {
		return g.view.Load()
	}
	return &empty
}

// add puts pids in. Only the writer calls it, always on the latest view.
func (g *group) add(pids []node.PID, local bool) {
	v := g.view.Load()
	n := &view{all: append(v.all, pids...), local: v.local}
	if local {
		n.local = append(v.local, pids...)
	}
	g.view.Store(n)
}

// remove takes pids out, which are in it.
func (g *group) remove(pids []node.PID, local bool) {
	v := g.view.Load()
	n := &view{local: v.local}
	n.all, _ = subtract(v.all, pids)
	if local {
		n.local, _ = subtract(v.local, pids)
	}
	g.view.Store(n)
}

// few is how many pids are looked for one by one.
const few = 8

// subtract takes each of pids out of list once, if it is there: Erlang's --. It
// returns what is left, in a new slice, and what it has found.
func subtract(list, pids []node.PID) (rest, found []node.PID) {
	if len(pids) <= few {
		rest = slices.Clone(list)
		for _, p := range pids {
			if i := slices.Index(rest, p); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
				found = append(found, p)
			}
		}
		return rest, found
	}
	count := make(map[node.PID]int, len(pids))
	for _, p := range pids {
		count[p]++
	}
	rest = make([]node.PID, 0, len(list))
	for _, p := range list {
		if count[p] > 0 {
			count[p]--
			found = append(found, p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest, found
}

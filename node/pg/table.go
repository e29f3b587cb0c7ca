package pg

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// table is what a scope knows, for any number of readers, like the ets table of pg.erl.
// Its one writer is the scope's process.
//
// Invariants:
//
//  1. No two groups have the same term, as [wire.Equal] sees it: plain holds
//     those whose term, in the form of package tables, Go's == distinguishes, terms the
//     others.
//  2. A view never changes. The first reader makes it, and it is valid until somebody leaves. The slices of a
//     later one may share its memory, for they are only appended to.
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

	mu      sync.Mutex           // of the scope's process, which changes what it guards, and those that make a view
	members bag[member]          // as often as they have joined
	view    atomic.Pointer[view] // of members; nil: not made yet
	count   atomic.Int64         // of members, for readers
	locals  atomic.Int64         // of those, the ones of this node

	// The scope's process only.
	watchers map[node.Ref]node.PID
	holders  int // peers with members here, and watchers of other nodes
	weight   int // as weigh returns it; 0: not known yet
}

// member is a process in a group, added by a scope of this node or of another.
type member struct {
	pid   node.PID
	local bool
}

// view is the members of a group at one time; a process is in it as often as it has
// joined.
type view struct{ all, local []node.PID }

var empty view

// find returns the group with the term, nil: there is none.
func (t *table) find(term any) *group {
	if term, plain := tables.TermKey(term); plain {
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
	term, plain := tables.TermKey(term)
	g := &group{term: term}
	if plain {
		t.plain.Store(term, g)
		return g
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.terms.Put(term, g)
	return g
}

// tidy removes g if it has no more use.
func (t *table) tidy(g *group) {
	if g.count.Load() > 0 || len(g.watchers) > 0 {
		return
	}
	if _, plain := tables.TermKey(g.term); plain {
		t.plain.Delete(g.term)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.terms.Delete(g.term)
}

// groups yields all groups that have members.
func (t *table) groups() iter.Seq[*group] {
	return func(yield func(*group) bool) {
		var all []*group
		t.plain.Range(func(_, g any) bool { all = append(all, g.(*group)); return true })
		t.mu.RLock()
		for _, g := range t.terms.Unordered() {
			all = append(all, g.(*group))
		}
		t.mu.RUnlock()
		for _, g := range all {
			if g.count.Load() > 0 && !yield(g) {
				return
			}
		}
	}
}

// look returns the members of the group with the term.
func (t *table) look(term any) *view {
	if g := t.find(term); g != nil {
		return g.look()
	}
	return &empty
}

// look returns the members at one time between now and its return.
func (g *group) look() *view {
	if v := g.view.Load(); v != nil {
		return v
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.view.Load(); v != nil {
		return v
	}
	v := &view{make([]node.PID, 0, g.members.len()), make([]node.PID, 0, g.locals.Load())}
	for m := range g.members.all() {
		v.all = append(v.all, m.pid)
		if m.local {
			v.local = append(v.local, m.pid)
		}
	}
	g.view.Store(v)
	return v
}

// add puts pids in. Only the writer calls it.
func (g *group) add(pids []node.PID, local bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range pids {
		g.members.add(member{p, local})
	}
	g.counted(len(pids), local)
	if v := g.view.Load(); v != nil {
		n := &view{all: append(v.all, pids...), local: v.local}
		if local {
			n.local = append(v.local, pids...)
		}
		g.view.Store(n)
	}
}

// remove takes pids out, which are in it.
func (g *group) remove(pids []node.PID, local bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gone := 0
	for _, p := range pids {
		if g.members.remove(member{p, local}) {
			gone++
		}
	}
	g.counted(-gone, local)
	g.view.Store(nil)
}

func (g *group) counted(n int, local bool) {
	g.count.Add(int64(n))
	if local {
		g.locals.Add(int64(n))
	}
}

// subtract takes each of pids out of list once, if it is there: Erlang's --. It
// returns what is left, in a new slice, and what it has found.
func subtract(list, pids []node.PID) (rest, found []node.PID) {
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

package event

import (
	"iter"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
)

// handlers are the handlers of a manager, the one added last first. Adding, finding and removing one
// costs the same however many there are.
//
// Invariants:
//
//  1. An entry is on the list of all, on the list of its ID, and, if it has an owner, on the owner's list.
//  2. No list of an ID or an owner is empty.
type handlers struct {
	list    tables.List[entry]
	n       int
	listen  int                         // how many are a Listener
	plain   map[key]*tables.List[entry] // by ID, if a Go map can have it as a key: see package tables
	terms   wire.Map                    // by any other ID, as a term
	byOwner map[node.PID]*tables.List[entry]
}

// key is an ID that Go's == compares.
type key struct {
	module wire.Atom
	id     any
}

// all yields the handlers. Those already yielded may be removed.
func (s *handlers) all() iter.Seq[*entry] { return s.list.Newest() }

// same returns the handlers with an ID, or nil.
func (s *handlers) same(id ID) *tables.List[entry] {
	if k, plain := tables.TermKey(id.ID); plain || k == nil {
		return s.plain[key{id.Module, k}]
	}
	l, _ := s.terms.Get(id.term())
	found, _ := l.(*tables.List[entry])
	return found
}

// find returns the handler with an ID that was added last, or nil.
func (s *handlers) find(id ID) *entry {
	if l := s.same(id); l != nil {
		return l.First()
	}
	return nil
}

// of yields the handlers of an owner. Those already yielded may be removed.
func (s *handlers) of(owner node.PID) iter.Seq[*entry] {
	if l := s.byOwner[owner]; l != nil {
		return l.Newest()
	}
	return func(func(*entry) bool) {}
}

func (s *handlers) add(e *entry) {
	s.n++
	s.list.Add(&e.all, e)
	s.index(e)
}

// index puts e on the lists of its ID and of its owner.
func (s *handlers) index(e *entry) {
	same := s.same(e.id)
	if same == nil {
		same = new(tables.List[entry])
		if k, plain := tables.TermKey(e.id.ID); plain || k == nil {
			if s.plain == nil {
				s.plain = make(map[key]*tables.List[entry])
			}
			s.plain[key{e.id.Module, k}] = same
		} else {
			s.terms.Put(e.id.term(), same)
		}
	}
	same.Add(&e.same, e)
	if e.listens() {
		s.listen++
	}
	if e.owner.IsZero() {
		return
	}
	if s.byOwner == nil {
		s.byOwner = make(map[node.PID]*tables.List[entry])
	}
	if s.byOwner[e.owner] == nil {
		s.byOwner[e.owner] = new(tables.List[entry])
	}
	s.byOwner[e.owner].Add(&e.owned, e)
}

func (s *handlers) remove(e *entry) {
	s.n--
	s.list.Remove(&e.all)
	s.forget(e)
}

// forget is the reverse of index.
func (s *handlers) forget(e *entry) {
	if e.listens() {
		s.listen--
	}
	same := s.same(e.id)
	if same.Remove(&e.same); same.IsEmpty() {
		if k, plain := tables.TermKey(e.id.ID); plain || k == nil {
			delete(s.plain, key{e.id.Module, k})
		} else {
			s.terms.Delete(e.id.term())
		}
	}
	if l := s.byOwner[e.owner]; l != nil {
		if l.Remove(&e.owned); l.IsEmpty() {
			delete(s.byOwner, e.owner)
		}
	}
}

// replace turns e into the handler by, at the same position.
func (s *handlers) replace(e, by *entry) {
	s.forget(e)
	e.id, e.h, e.owner = by.id, by.h, by.owner
	s.index(e)
}

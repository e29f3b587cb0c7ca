package tables

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/wire"
)

// ErrArgument is wrapped by the errors of all calls of this module that reject an argument; they say which and why.
var ErrArgument = errors.New("node: invalid argument")

// ErrTaken says that a name cannot be registered, because a process has it or the process has a name.
var ErrTaken = errors.New("node: cannot register the name")

// NameHolder is a process in the table.
type NameHolder interface {
	comparable
	sync.Locker
	PID() wire.PID
	// Alive returns nil, or an error if the process has exited. It may be called concurrently.
	Alive() error
	// Name returns the name of the process, or "", and SetName sets it. The caller holds its lock.
	Name() wire.Atom
	SetName(wire.Atom)
}

// Names is the registered names of a node. The zero value is empty.
type Names[P NameHolder] struct {
	mu       sync.RWMutex
	m        map[wire.Atom]P
	reserved map[wire.Atom]*Reservation  // names of services
	owners   map[wire.Atom]*limits.Owner // of names that peers have registered
}

// Reservation is a name that is reserved for its holder.
type Reservation struct{ name wire.Atom }

// NameEntry is the argument of [Names.Enter].
type NameEntry struct {
	Name wire.Atom
	By   *Reservation // of the service to which the process belongs, or nil
	// Take counts the name for the peer that registers it, or is nil if none does.
	Take func() (*limits.Owner, error)
}

// Reserve reserves a name for a service; "" needs no reservation. It returns false if the name is reserved.
func (t *Names[P]) Reserve(name wire.Atom) (*Reservation, bool) {
	r := &Reservation{name}
	if name == "" {
		return r, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reserved[name] != nil {
		return nil, false
	}
	if t.reserved == nil {
		t.reserved = make(map[wire.Atom]*Reservation)
	}
	t.reserved[name] = r
	return r, true
}

// Release ends a reservation.
func (t *Names[P]) Release(r *Reservation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reserved[r.name] == r {
		delete(t.reserved, r.name)
	}
}

// Get returns the process that has a name.
func (t *Names[P]) Get(name wire.Atom) P {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.m[name]
}

// All returns the names in alphabetical order.
func (t *Names[P]) All() []wire.Atom {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.m))
}

// Len returns the number of names.
func (t *Names[P]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.m)
}

// Remove removes name if it is p's.
func (t *Names[P]) Remove(name wire.Atom, p P) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m[name] != p {
		return false
	}
	delete(t.m, name)
	t.disown(name)
	return true
}

// disown uncounts a name if a peer has registered it. The caller holds t.mu.
func (t *Names[P]) disown(name wire.Atom) {
	if o := t.owners[name]; o != nil {
		delete(t.owners, name)
		o.GiveName()
	}
}

// CheckName returns an error if a name is invalid: [ErrArgument].
func CheckName(name wire.Atom) error {
	if name == "" || name == wire.AtomUndefined || !name.Valid() {
		return fmt.Errorf("%w: name of a process: %q: want 1 to %d characters of UTF-8, and any name but undefined", ErrArgument,
			name, wire.MaxAtomRunes)
	}
	return nil
}

// Enter registers p. Errors: [ErrArgument], [ErrTaken] (the name is taken or reserved, or p has one), that of
// [NameHolder].Alive, and that of Take.
func (t *Names[P]) Enter(p P, e NameEntry) error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q, ok := t.m[e.Name]; ok && q.Alive() == nil { // an exited process has no claim to it
		return fmt.Errorf("%w: %s is the name of %v", ErrTaken, e.Name, q.PID())
	}
	p.Lock()
	defer p.Unlock()
	if err := p.Alive(); err != nil {
		return err
	}
	if r := t.reserved[e.Name]; r != nil && r != e.By {
		return fmt.Errorf("%w: %s is reserved for a service", ErrTaken, e.Name)
	}
	if has := p.Name(); has != "" {
		return fmt.Errorf("%w: %v is already registered as %s", ErrTaken, p.PID(), has)
	}
	t.disown(e.Name)
	if e.Take != nil {
		o, err := e.Take()
		if err != nil {
			return err
		}
		if t.owners == nil {
			t.owners = make(map[wire.Atom]*limits.Owner)
		}
		t.owners[e.Name] = o
	}
	if t.m == nil {
		t.m = make(map[wire.Atom]P)
	}
	p.SetName(e.Name)
	t.m[e.Name] = p
	return nil
}

package supervisor

import (
	"iter"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// phase is the state of a child.
//
//	stopped ──start──► starting ──Init──► running ──exit──► restarting or stopped
//	   ▲                   │                                     │
//	   └──────fails────────┴─────────────retry fails, or stops───┘
type phase uint8

const (
	stopped    phase = iota // OTP's undefined
	running                 // has a pid
	restarting              // waiting for a restart: see retry
)

// child is a supervisor's record of a child. There may be a million of them.
type child struct {
	spec       *Child        // shared by the children of SimpleOneForOne, except those started by a peer
	pid        node.PID      // the current or last PID
	prev, next *child        // in order of start
	args       []any         // of SimpleOneForOne
	back       *backoffState // nil if there is no backoff
	restarts   uint32
	try        uint16 // number of the current retry
	phase      phase
	dynamic    bool
}

// backoffState is the state of a child with a backoff.
type backoffState struct {
	since time.Time // running since
	tries int       // restarts in a row
}

// startedFor returns the spec for a child started by peer, so that it counts as the peer's, also after each restart; or k
// itself if peer is "".
func (k *Child) startedFor(peer node.Atom) *Child {
	if peer == "" {
		return k
	}
	spec := *k
	spec.Options.For = peer
	return &spec
}

// id returns the child's ID.
func (k *child) id() any { return k.spec.ID }

// children are a supervisor's children in the order of their start.
//
// Invariants:
//
//  1. A child is in the list from save to forget; byID has it unless it is dynamic.
//  2. byPID has exactly the running children.
type children struct {
	first, last     *child
	byID            wire.Map // of *child
	byPID           map[node.PID]*child
	n               int
	liveSignificant int // significant ones that are not stopped
}

func (c *children) get(id any) *child {
	k, _ := c.byID.Get(id)
	found, _ := k.(*child)
	return found
}

// save appends k.
func (c *children) save(k *child) {
	k.prev = c.last
	if c.last == nil {
		c.first = k
	} else {
		c.last.next = k
	}
	c.last = k
	c.n++
	if !k.dynamic {
		c.byID.Put(k.id(), k)
	}
}

// forget removes k.
func (c *children) forget(k *child) {
	if k.prev == nil {
		c.first = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		c.last = k.prev
	} else {
		k.next.prev = k.prev
	}
	c.n--
	if !k.dynamic {
		c.byID.Delete(k.id())
	}
	c.down(k, stopped)
	k.spec.done.close()
}

// up records that k is running as pid.
func (c *children) up(k *child, pid node.PID) {
	if c.byPID == nil {
		c.byPID = make(map[node.PID]*child)
	}
	k.pid = pid
	c.enter(k, running)
	c.byPID[pid] = k
}

// down records that k is no longer running. Its pid is kept for reports.
func (c *children) down(k *child, p phase) {
	if k.phase == running {
		delete(c.byPID, k.pid)
	}
	c.enter(k, p)
}

func (c *children) enter(k *child, p phase) {
	if k.spec.Significant {
		if k.phase != stopped {
			c.liveSignificant--
		}
		if p != stopped {
			c.liveSignificant++
		}
	}
	k.phase = p
}

// backward yields the children, the last started first. The yielded child may be forgotten.
func (c *children) backward() iter.Seq[*child] {
	return func(yield func(*child) bool) {
		for k := c.last; k != nil; {
			prev := k.prev
			if !yield(k) {
				return
			}
			k = prev
		}
	}
}

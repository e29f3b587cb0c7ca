package peers

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/wire"
)

// MeshConfig configures a Mesher; all fields are above 0.
type MeshConfig struct {
	Interval time.Duration // between two queries for the list, at most
	Dials    int           // concurrent attempts
	Backoff  time.Duration // the longest pause between attempts for the same node
	Yield    time.Duration // how long the node with the greater name waits for the other
}

// WithDefaults returns c with defaults for fields that are 0. Negative values are an error.
func (c MeshConfig) WithDefaults() (MeshConfig, error) {
	if c.Interval < 0 || c.Dials < 0 || c.Backoff < 0 || c.Yield < 0 {
		return c, errors.New("the fields Interval, Dials, Backoff and Yield must not be negative")
	}
	c.Interval = cmp.Or(c.Interval, defaultInterval)
	c.Dials = cmp.Or(c.Dials, defaultDials)
	c.Backoff = cmp.Or(c.Backoff, defaultBackoff)
	c.Yield = cmp.Or(c.Yield, defaultYield)
	return c, nil
}

const (
	defaultInterval = 10 * time.Second // a list is a query to DNS or to port mappers: six a minute disturb neither
	defaultDials    = 16               // connects a thousand nodes in some 60 round trips, with little concurrent work
	defaultBackoff  = time.Minute      // a node that is back is found within a minute
	defaultYield    = 2 * time.Second  // more than a handshake takes

	firstPause = 500 * time.Millisecond
	spread     = 5 * time.Millisecond   // per listed node
	relist     = 500 * time.Millisecond // minimum between queries for a list that changes, if Interval is not less
	mostCauses = 8                      // causes logged for a node before it is connected again

	mostFailure = 300 // bytes kept of an error
)

// Mesher decides which nodes to connect to and when. Create one with [NewMesher].
//
// Invariants:
//
//  1. A target is listed, or is being dialed.
//  2. dialing is the number of targets with dialing set, at most cfg.Dials.
//  3. names are the names of the targets, in alphabetical order.
//  4. A target that is neither connected nor being dialed has a due time once Step
//     has seen it.
type Mesher struct {
	me      wire.Atom
	cfg     MeshConfig
	chance  func() float64 // in [0, 1)
	targets map[wire.Atom]*meshTarget
	names   []wire.Atom
	dialing int
}

// meshTarget is a node that is to be connected.
type meshTarget struct {
	due     time.Time // of the next attempt; zero if connected, or not yet seen by Step
	up      time.Time // when it was first seen connected; zero if it is not connected
	fails   int       // failed attempts since it was connected
	brief   int       // consecutive connections that lasted less than Backoff
	told    []string  // causes logged since it was connected
	since   time.Time // when it was first seen disconnected; zero if it is connected
	failure string    // why the last attempt since then has failed
	listed  bool
	dialing bool
}

// NewMesher returns the Mesher of the node me, which is not connected. chance returns random numbers in [0, 1).
func NewMesher(me wire.Atom, cfg MeshConfig, chance func() float64) *Mesher {
	return &Mesher{me: me, cfg: cfg, chance: chance, targets: make(map[wire.Atom]*meshTarget)}
}

// List sets the list of nodes.
func (m *Mesher) List(names []wire.Atom) {
	for _, t := range m.targets {
		t.listed = false
	}
	for _, name := range names {
		if name == m.me {
			continue
		}
		t := m.targets[name]
		if t == nil {
			t = &meshTarget{}
			m.targets[name] = t
		}
		t.listed = true
	}
	m.names = m.names[:0]
	for name, t := range m.targets {
		if !t.listed && !t.dialing {
			delete(m.targets, name)
		} else {
			m.names = append(m.names, name)
		}
	}
	slices.Sort(m.names)
}

// Step returns the nodes to connect to now, each of which must be reported to Done, and when to call Step again at the
// latest, or zero if only an event requires that.
func (m *Mesher) Step(now time.Time, isUp func(wire.Atom) bool) (dial []wire.Atom, next time.Time) {
	for _, name := range m.names {
		t := m.targets[name]
		switch {
		case t.dialing:
			continue
		case isUp(name):
			if t.up.IsZero() {
				t.up = now
			}
			t.due, t.fails, t.told, t.since, t.failure = time.Time{}, 0, nil, time.Time{}, ""
			continue
		case t.due.IsZero():
			t.due = now.Add(m.first(name) + m.rest(t, now))
			if t.since.IsZero() {
				t.since = now
			}
		}
		switch {
		case !t.due.After(now):
			dial = append(dial, name)
		case next.IsZero() || t.due.Before(next):
			next = t.due
		}
	}
	slices.SortFunc(dial, func(a, b wire.Atom) int {
		return cmp.Or(m.targets[a].due.Compare(m.targets[b].due), cmp.Compare(a, b))
	})
	dial = dial[:min(len(dial), m.cfg.Dials-m.dialing)]
	for _, name := range dial {
		m.targets[name].dialing = true
		m.dialing++
	}
	return dial, next
}

// first returns the pause before the first attempt.
func (m *Mesher) first(name wire.Atom) time.Duration {
	over := min(time.Duration(len(m.targets))*spread, m.cfg.Interval)
	pause := time.Duration(m.chance() * float64(over))
	if m.me > name {
		pause += over + m.cfg.Yield
	}
	return pause
}

// rest returns the additional pause after a connection has ended. It is 0 after the first brief connection: a node may
// restart. If several in a row were brief, something ends them: for example another node of the same name, which the peer
// prefers in turn.
func (m *Mesher) rest(t *meshTarget, now time.Time) time.Duration {
	if t.up.IsZero() {
		return 0
	}
	lasted := now.Sub(t.up)
	t.up = time.Time{}
	if lasted >= m.cfg.Backoff {
		t.brief = 0
		return 0
	}
	if t.brief++; t.brief == 1 {
		return 0
	}
	return m.pause(t.brief - 2)
}

// pause returns the pause after an attempt that n others have preceded.
func (m *Mesher) pause(n int) time.Duration {
	pause := min(firstPause<<min(n, 20), m.cfg.Backoff)
	return pause - time.Duration(m.chance()*float64(pause/2))
}

// Done reports the result of an attempt. It returns whether the failure should be logged.
func (m *Mesher) Done(now time.Time, name wire.Atom, err error) (tell bool) {
	t := m.targets[name]
	t.dialing = false
	m.dialing--
	if !t.listed {
		delete(m.targets, name)
		if i, ok := slices.BinarySearch(m.names, name); ok {
			m.names = slices.Delete(m.names, i, i+1)
		}
		return false
	}
	if err == nil {
		t.due = time.Time{}
		if t.up.IsZero() { // it may end before Step looks
			t.up = now
		}
		return false
	}
	t.due = now.Add(m.pause(t.fails))
	t.fails++
	t.failure = MeshFailure(err)
	why := causeOf(err)
	if len(t.told) >= mostCauses || slices.Contains(t.told, why) {
		return false
	}
	t.told = append(t.told, why)
	return true
}

// MeshListed is a listed node.
type MeshListed struct {
	Name    wire.Atom
	Since   time.Time // when Step first saw it disconnected; zero if connected, or not yet seen by Step
	Failure string    // why the last attempt since then has failed
	Next    time.Time // of the next attempt; zero if one is running, or none is due
}

// Listed returns the listed nodes, sorted by name.
func (m *Mesher) Listed() []MeshListed {
	var all []MeshListed
	for _, name := range m.names {
		t := m.targets[name]
		if !t.listed {
			continue
		}
		l := MeshListed{Name: name, Since: t.since, Failure: t.failure}
		if !t.dialing {
			l.Next = t.due
		}
		all = append(all, l)
	}
	return all
}

// MeshFailure returns the text of err, truncated to 300 bytes.
func MeshFailure(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), mostFailure)], "")
}

// causeOf returns the text of an error without what varies: the ports of connections that this node has opened.
func causeOf(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

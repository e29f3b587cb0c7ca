package node

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Mesh keeps a node connected to all nodes that its finder lists, instead of only
// to those that somebody here has used. The zero value works.
//
// Of two nodes the one with the smaller name connects, the other only if that has
// not happened within Yield: each pair connects once. All attempts are spread by
// chance, over 5 ms for each node of the list, so that a node that is new to a
// thousand others is not connected to by all of them at once. A connection that is
// lost, for whatever reason, Disconnect too, is made again while the node is
// listed; that a node is no longer listed ends no connection.
type Mesh struct {
	// Interval is how often the finder is asked for its list; one that is a
	// [Watcher] also when it changes. Default: 10 s.
	Interval time.Duration
	// Dials is how many connections are made at a time. Default: 16.
	Dials int
	// Backoff is the longest pause between attempts to connect to the same node; the
	// first is 500 ms, each next one twice as long, and up to half of it is taken off
	// by chance. Default: 1 minute.
	Backoff time.Duration
	// Yield is how long the node with the greater name waits for the other to
	// connect. Default: 2 s.
	Yield time.Duration
}

const (
	defaultMeshInterval = 10 * time.Second
	defaultMeshDials    = 16
	defaultMeshBackoff  = time.Minute
	defaultMeshYield    = 2 * time.Second
	meshFirstPause      = 500 * time.Millisecond
	meshSpread          = 5 * time.Millisecond   // for each listed node
	meshRelist          = 500 * time.Millisecond // between questions for a list that changes, at least, if Interval is not less
	meshCauses          = 8                      // that are logged for a node before it has been connected again
)

// validate fills in the defaults.
func (m *Mesh) validate(f Finder) error {
	if _, ok := f.(Lister); !ok {
		return fmt.Errorf("node: Distribution.Mesh needs a Finder that can list nodes (a Lister), and %T cannot", f)
	}
	if m.Interval < 0 || m.Dials < 0 || m.Backoff < 0 || m.Yield < 0 {
		return errors.New("node: Distribution.Mesh: Interval, Dials, Backoff and Yield must not be negative")
	}
	m.Interval = cmp.Or(m.Interval, defaultMeshInterval)
	m.Dials = cmp.Or(m.Dials, defaultMeshDials)
	m.Backoff = cmp.Or(m.Backoff, defaultMeshBackoff)
	m.Yield = cmp.Or(m.Yield, defaultMeshYield)
	return nil
}

// mesher decides whom to connect to and when: lists, times and chance in, names
// out.
//
// Invariants:
//
//  1. A target is listed, or is being dialed.
//  2. dialing is the number of targets with dialing set, at most cfg.Dials.
//  3. A target that is neither connected nor being dialed has a due time once step
//     has seen it.
type mesher struct {
	me      Atom
	cfg     Mesh
	chance  func() float64 // in [0, 1)
	targets map[Atom]*target
	dialing int
}

// target is a node that is to be connected.
type target struct {
	due     time.Time // of the next attempt; zero: connected, or never looked at
	fails   int       // since it was connected
	told    []string  // causes that have been logged since
	listed  bool
	dialing bool
}

// list takes the nodes there are.
func (m *mesher) list(names []Atom) {
	for _, t := range m.targets {
		t.listed = false
	}
	for _, name := range names {
		if name == m.me {
			continue
		}
		t := m.targets[name]
		if t == nil {
			t = &target{}
			m.targets[name] = t
		}
		t.listed = true
	}
	for name, t := range m.targets {
		if !t.listed && !t.dialing {
			delete(m.targets, name)
		}
	}
}

// step returns whom to connect to now, each of which is reported to done, and when
// to ask again at the latest; zero: not before something happens.
func (m *mesher) step(now time.Time, isUp func(Atom) bool) (dial []Atom, next time.Time) {
	for name, t := range m.targets {
		switch {
		case t.dialing:
			continue
		case isUp(name):
			t.due, t.fails, t.told = time.Time{}, 0, nil
			continue
		case t.due.IsZero():
			t.due = now.Add(m.first(name))
		}
		switch {
		case !t.due.After(now):
			dial = append(dial, name)
		case next.IsZero() || t.due.Before(next):
			next = t.due
		}
	}
	slices.SortFunc(dial, func(a, b Atom) int {
		return cmp.Or(m.targets[a].due.Compare(m.targets[b].due), cmp.Compare(a, b))
	})
	dial = dial[:min(len(dial), m.cfg.Dials-m.dialing)]
	for _, name := range dial {
		m.targets[name].dialing = true
		m.dialing++
	}
	return dial, next
}

// first is the pause before the first attempt.
func (m *mesher) first(name Atom) time.Duration {
	spread := min(time.Duration(len(m.targets))*meshSpread, m.cfg.Interval)
	pause := time.Duration(m.chance() * float64(spread))
	if m.me > name {
		pause += spread + m.cfg.Yield
	}
	return pause
}

// done takes the result of an attempt. It reports whether the failure is to be
// logged.
func (m *mesher) done(now time.Time, name Atom, err error) (tell bool) {
	t := m.targets[name]
	t.dialing = false
	m.dialing--
	if !t.listed {
		delete(m.targets, name)
		return false
	}
	if err == nil {
		t.due = time.Time{}
		return false
	}
	pause := min(meshFirstPause<<min(t.fails, 20), m.cfg.Backoff)
	t.fails++
	t.due = now.Add(pause - time.Duration(m.chance()*float64(pause/2)))
	why := causeOf(err)
	if len(t.told) >= meshCauses || slices.Contains(t.told, why) {
		return false
	}
	t.told = append(t.told, why)
	return true
}

// causeOf is the text of an error without what differs each time: the ports of
// connections that this node has opened.
func causeOf(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// dialed is the end of an attempt.
type dialed struct {
	name Atom
	err  error
}

// mesh is the goroutine that keeps this node connected to all others: started by
// startDist, ended by stop. Its attempts end with it.
func (d *dist) mesh() {
	defer d.wg.Done()
	stop := watchOf(d.cfg.Finder, d.relist.set)
	defer stop()
	m := &mesher{me: d.n.cfg.Name, cfg: *d.cfg.Mesh, chance: d.n.env.Float64, targets: make(map[Atom]*target)}
	results := make(chan dialed, m.cfg.Dials) // as many as there can be: none is held up
	var told string
	var asked, again time.Time // when the list was asked for, and when it is due
	timer, fires := d.n.env.NewTimer(0)
	defer timer.Stop()
	for {
		now := d.n.env.Now()
		if !now.Before(again) {
			names, err := d.list()
			if why := ""; err != nil || told != "" {
				if err != nil {
					why = causeOf(err)
				}
				if why != told && d.ctx.Err() == nil {
					d.n.cfg.Log.Warn("cannot list the nodes of the cluster, or listed only some of them", "known", len(names), "error", err)
				}
				told = why
			}
			m.list(names)
			now = d.n.env.Now()
			asked, again = now, now.Add(m.cfg.Interval)
		}
		names, next := m.step(now, d.isUp)
		for _, name := range names {
			d.wg.Add(1)
			d.n.env.Go(func() { // ended by ConnectTimeout; results has room
				defer d.wg.Done()
				results <- dialed{name, d.n.connectWithin(name)}
			})
		}
		if next.IsZero() || next.After(again) {
			next = again
		}
		timer.Reset(next.Sub(now))
		select {
		case <-d.ctx.Done():
			return
		case <-fires:
		case <-d.lost: // a connection: step looks for it
		case <-d.relist:
			if soon := asked.Add(min(meshRelist, m.cfg.Interval)); soon.Before(again) {
				again = soon
			}
		case r := <-results:
			if m.done(d.n.env.Now(), r.name, r.err) && d.ctx.Err() == nil {
				d.n.cfg.Log.Warn("cannot connect to a node of the mesh: will retry", "peer", string(r.name), "error", r.err)
			}
		}
	}
}

// list asks the finder for the nodes there are.
func (d *dist) list() ([]Atom, error) {
	ctx, cancel := d.n.env.WithTimeout(d.ctx, d.cfg.ConnectTimeout)
	defer cancel()
	return listOf(ctx, d.cfg.Finder)
}

func (d *dist) isUp(name Atom) bool {
	p := d.get(name)
	return p != nil && p.isUp()
}

// connectWithin is Connect within ConnectTimeout.
func (n *Node) connectWithin(name Atom) error {
	ctx, cancel := n.env.WithTimeout(n.dist.ctx, n.dist.cfg.ConnectTimeout)
	defer cancel()
	return n.Connect(ctx, name)
}

// news wakes who waits for something to have happened, once for several times.
type news chan struct{}

func (n news) set() {
	select {
	case n <- struct{}{}:
	default:
	}
}

package gossip

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// Limits of the list of lost members.
const (
	maxLost  = 1024
	lostTime = time.Hour
)

// table holds the members that memberlist has reported. memberlist calls the methods of events with its lock held: they
// must not call memberlist.
//
// Invariants:
//
//  1. lives has no empty list, and each list has its newest run first.
//  2. An address in lost belongs to a node that is not in lives.
//  3. lost has at most maxLost addresses.
type table struct {
	mu       sync.Mutex
	lives    map[node.Atom][]member
	at       map[string]int           // how many members gossip at an address
	lost     map[node.Atom]lostMember // nodes that left, died, or that the network cut off
	watchers map[*func()]struct{}
	events   *eventDelegate // the delegate whose events are used; nil: none
}

// eventDelegate passes events to a table during one session. memberlist does not wait for its goroutines and may report
// something after its end, which must not stay in the table for ever.
type eventDelegate struct{ t *table }

// listen makes a new event delegate. The table then uses only its events.
func (t *table) listen() *eventDelegate {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = &eventDelegate{t}
	return t.events
}

// lostMember is the gossip address of a lost member.
type lostMember struct {
	addr  string
	since time.Time
}

func newTable() *table {
	return &table{lives: make(map[node.Atom][]member), at: make(map[string]int), lost: make(map[node.Atom]lostMember),
		watchers: make(map[*func()]struct{})}
}

func addrOf(n *memberlist.Node) string {
	return net.JoinHostPort(n.Addr.String(), strconv.Itoa(int(n.Port)))
}

// NotifyAlive is part of memberlist.AliveDelegate: it rejects a member that has the key but is not an actornode.
func (*eventDelegate) NotifyAlive(n *memberlist.Node) error {
	_, err := parse(n.Name, n.Meta)
	return err
}

// apply calls note with the metadata of n, if e is the delegate in use.
func (e *eventDelegate) apply(n *memberlist.Node, note func(t *table, m member)) {
	m, err := parse(n.Name, n.Meta)
	if err != nil {
		return // NotifyAlive has refused it
	}
	t := e.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.events == e {
		note(t, m)
		t.changedLocked()
	}
}

// NotifyJoin is part of memberlist.EventDelegate.
func (e *eventDelegate) NotifyJoin(n *memberlist.Node) {
	e.apply(n, func(t *table, m member) {
		t.at[addrOf(n)]++
		lives := append(t.lives[m.Name], m)
		newest(lives)
		t.lives[m.Name] = lives
		delete(t.lost, m.Name)
	})
}

// NotifyUpdate is part of memberlist.EventDelegate. A member does not change its metadata, but its address may
// change.
func (e *eventDelegate) NotifyUpdate(n *memberlist.Node) {
	e.apply(n, func(t *table, m member) {
		for i, l := range t.lives[m.Name] {
			if l.Creation == m.Creation {
				t.lives[m.Name][i] = m
			}
		}
		newest(t.lives[m.Name])
	})
}

// NotifyLeave is part of memberlist.EventDelegate: n has left or died. memberlist does not say which, so both count as
// lost.
func (e *eventDelegate) NotifyLeave(n *memberlist.Node) {
	e.apply(n, func(t *table, m member) {
		if addr := addrOf(n); t.at[addr] > 1 {
			t.at[addr]--
		} else {
			delete(t.at, addr)
		}
		var left []member
		for _, l := range t.lives[m.Name] {
			if l.Creation != m.Creation {
				left = append(left, l)
			}
		}
		if t.lives[m.Name] = left; len(left) == 0 {
			delete(t.lives, m.Name)
			t.loseLocked(m.Name, lostMember{addrOf(n), time.Now()})
		}
	})
}

func (t *table) loseLocked(name node.Atom, o lostMember) {
	if len(t.lost) >= maxLost {
		for old := range t.lost { // any one: the seeds are still tried
			delete(t.lost, old)
			break
		}
	}
	t.lost[name] = o
}

func (t *table) changedLocked() {
	for changed := range t.watchers {
		(*changed)()
	}
}

func (t *table) watch(changed func()) (stop func()) {
	key := &changed
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers[key] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, key)
	}
}

// find returns the endpoints of a node, those of its newest run first.
func (t *table) find(name node.Atom) (all []discovery.Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lives[name] {
		all = append(all, l.Endpoints...)
	}
	return all
}

func (t *table) list() []node.Atom {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]node.Atom, 0, len(t.lives))
	for name := range t.lives {
		all = append(all, name)
	}
	return all
}

// isAt reports whether a member gossips at addr.
func (t *table) isAt(addr string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at[addr] > 0
}

// missing returns up to n random addresses of lost nodes, and forgets nodes that have been lost for more than lostTime.
func (t *table) missing(now time.Time, n int) (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, o := range t.lost {
		if now.Sub(o.since) > lostTime {
			delete(t.lost, name)
			continue
		}
		all = append(all, o.addr)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// gone returns how many nodes are lost.
func (t *table) gone() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.lost)
}

// clear forgets everything, and ignores later events.
func (t *table) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = nil
	clear(t.lives)
	clear(t.at)
	clear(t.lost)
}

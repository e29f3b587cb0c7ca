package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// WaitQuery selects waits. The zero value selects the longest ones.
type WaitQuery struct {
	Limit int `etf:",omitzero"` // default and maximum: the service's limit
	// Cycles selects the waits that belong to closed cycles: processes that wait for each other, until one gives up.
	Cycles bool `etf:",omitzero"`
	// Away selects, beside these, the waits that end at another node, directly or through others. A cycle over several nodes
	// consists of such.
	Away bool `etf:",omitzero"`
}

// Waiting is a process that waits for something else than a message. Waits of methods of active objects are not included.
type Waiting struct {
	PID       node.PID  `json:"pid"`
	Name      node.Atom `json:"name,omitzero" etf:",omitzero"`
	Label     string    `json:"label,omitzero" etf:",omitzero"`
	Behaviour string    `json:"behaviour"` // Go type
	Mailbox   int       `json:"mailbox"`   // waiting messages
	Wait      Wait      `json:"wait"`
	OnName    node.Atom `json:"on_name,omitzero" etf:",omitzero"` // registered name of Wait.PID, if it is of the same node
	Cycle     int       `json:"cycle,omitzero" etf:",omitzero"`   // number of the cycle that it belongs to, from 1; 0: none
}

// Waits is the answer to a WaitQuery: cycle by cycle, then the longest first. The members of a cycle follow each other, each
// waits for the next, and the last for the first.
type Waits struct {
	Waits   []Waiting `json:"waits"`
	Matched int       `json:"matched"` // selected by the query
	Cycles  int       `json:"cycles"`  // on the node; those beyond the limit are not listed
	Total   int       `json:"total"`   // processes that wait for something else than a message
}

// waits makes the Waits. It looks at all processes twice, without stopping them: what both looks show has been so at the moment
// between them, so a cycle that it reports is one.
func (q *request) waits() (any, error) {
	var ask WaitQuery
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	if ask.Limit < 0 {
		return nil, fmt.Errorf("%w: waits: limit must not be negative", ErrBadRequest)
	}
	next := make(map[node.PID]node.PID)
	for i := range q.n.Infos() {
		if to := q.waitsOn(i.Wait.On); !to.IsZero() {
			next[i.PID] = to
		}
	}
	most := q.s.limit(ask.Limit)
	w := Waits{Waits: []Waiting{}}
	inCycle := make(map[node.PID]bool)
	for _, cycle := range cyclesOf(next) {
		members := q.confirmed(cycle, next)
		if members == nil {
			continue
		}
		for k := range members {
			members[k].Cycle = w.Cycles + 1
			inCycle[members[k].PID] = true
		}
		if w.Cycles++; len(w.Waits)+len(members) <= most {
			w.Waits = append(w.Waits, members...)
		}
	}
	cycles := len(w.Waits)
	w.Matched = len(inCycle)
	away := awayFrom(next, q.n.Name())
	for i := range q.n.Infos() {
		if i.Wait.For == "" || i.Wait.For == "message" {
			continue
		}
		w.Total++
		switch {
		case inCycle[i.PID]:
			continue
		case ask.Away && !away(i.PID) && !isAway(i.Wait.On, q.n.Name()), ask.Cycles && !ask.Away:
			continue
		}
		w.Matched++
		if w.Waits = append(w.Waits, waitingOf(&i)); len(w.Waits) >= cycles+2*most {
			w.Waits = longest(w.Waits, cycles, most)
		}
	}
	w.Waits = longest(w.Waits, cycles, most)
	for k := range w.Waits {
		if on := w.Waits[k].Wait.PID; on.Node() == q.n.Name() {
			if i, err := q.n.Info(on); err == nil {
				w.Waits[k].OnName = i.Name
			}
		}
	}
	return toTerm(w)
}

// longest sorts what follows the first n elements, and cuts the list to most.
func longest(l []Waiting, n, most int) []Waiting {
	slices.SortFunc(l[n:], func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(b.Wait.Time, a.Wait.Time), wire.Compare(a.PID, b.PID))
	})
	return l[:min(len(l), most)]
}

// waitsOn returns the process that a wait is for, if it is known by a PID.
func (q *request) waitsOn(on node.Dest) node.PID {
	switch on := on.(type) {
	case node.PID:
		return on
	case node.At:
		if on.Name != "" && on.Node == q.n.Name() {
			pid, _ := q.n.Whereis(on.Name)
			return pid
		}
	}
	return node.PID{}
}

// isAway reports whether a wait is for another node, or a process there.
func isAway(on node.Dest, here node.Atom) bool {
	switch on := on.(type) {
	case node.PID:
		return on.Node() != here
	case node.At:
		return on.Node != here
	}
	return false
}

// awayFrom returns a function that reports whether a process waits, directly or through others, for a process of another node.
func awayFrom(next map[node.PID]node.PID, here node.Atom) func(node.PID) bool {
	known := make(map[node.PID]bool)
	return func(pid node.PID) bool {
		var path []node.PID
		found, ok := false, false
		for !ok {
			to, waits := next[pid]
			path = append(path, pid)
			known[pid] = false // until known; ends a walk in a cycle
			if found = waits && to.Node() != here; found || !waits {
				break
			}
			pid = to
			found, ok = known[pid]
		}
		for _, p := range path {
			known[p] = found
		}
		return found
	}
}

// waitingOf describes the wait of a process.
func waitingOf(i *observe.Process) Waiting {
	return Waiting{PID: i.PID, Name: i.Name, Label: i.Label, Behaviour: i.Behaviour, Mailbox: i.Mailbox, Wait: waitOf(&i.Wait)}
}

// confirmed describes the members of a cycle, which begins with the longest wait, or returns nil if one of them waits for
// another process by now.
func (q *request) confirmed(cycle []node.PID, next map[node.PID]node.PID) []Waiting {
	members := make([]Waiting, len(cycle))
	for k, pid := range cycle {
		i, err := q.n.Info(pid)
		if err != nil || q.waitsOn(i.Wait.On) != next[pid] {
			return nil
		}
		members[k] = waitingOf(&i)
	}
	return fromLongest(members)
}

// fromLongest turns a cycle so that it begins with the longest wait.
func fromLongest(cycle []Waiting) []Waiting {
	first := 0
	for k := range cycle {
		if cycle[k].Wait.Time > cycle[first].Wait.Time {
			first = k
		}
	}
	return slices.Concat(cycle[first:], cycle[:first])
}

// cyclesOf returns the cycles among processes of which each waits for at most one other.
func cyclesOf(next map[node.PID]node.PID) (cycles [][]node.PID) {
	walks := make(map[node.PID]int, len(next)) // number of the walk that came by first
	walk := 0
	for start := range next {
		walk++
		var path []node.PID
		for at, waits := start, true; waits; at, waits = next[at] {
			if w := walks[at]; w == walk {
				cycles = append(cycles, path[slices.Index(path, at):])
				break
			} else if w != 0 {
				break
			}
			walks[at] = walk
			path = append(path, at)
		}
	}
	slices.SortFunc(cycles, func(a, b []node.PID) int {
		return wire.Compare(slices.MinFunc(a, comparePIDs), slices.MinFunc(b, comparePIDs))
	})
	return cycles
}

func comparePIDs(a, b node.PID) int { return wire.Compare(a, b) }

// WaitsOf merges the waits of several nodes, and finds cycles over several. The result has the waits of the nodes that have
// answered, and failed the errors of the others. Cycles counts the cycles on single nodes and the others found. Each node is
// asked twice if q.Cycles is set: what both answers show has been so between them.
func WaitsOf(ctx context.Context, from node.Caller, nodes []node.Atom, q WaitQuery) (all Waits, failed map[node.Atom]error) {
	q.Away = q.Cycles
	all, failed = askWaits(ctx, from, nodes, q)
	if !q.Cycles {
		inCycle := func(w Waiting) bool { return w.Cycle > 0 }
		cycles := slices.DeleteFunc(slices.Clone(all.Waits), func(w Waiting) bool { return !inCycle(w) })
		all.Waits = longest(append(cycles, slices.DeleteFunc(all.Waits, inCycle)...), len(cycles), limitOf(q))
		return all, failed
	}
	again, failedAgain := askWaits(ctx, from, nodes, q)
	for at, err := range failedAgain {
		failed[at] = err
	}
	type point struct{ pid, on node.PID }
	byPID, byName := make(map[node.PID]*Waiting), make(map[node.At]node.PID)
	for k := range again.Waits {
		w := &again.Waits[k]
		if byPID[w.PID] = w; w.Name != "" {
			byName[node.At{Name: w.Name, Node: w.PID.Node()}] = w.PID
		}
	}
	aim := func(w *Waiting) node.PID {
		if !w.Wait.PID.IsZero() || w.Wait.Name == "" {
			return w.Wait.PID
		}
		return byName[node.At{Name: w.Wait.Name, Node: w.Wait.Node}]
	}
	before := make(map[point]Waiting)
	for _, w := range all.Waits {
		before[point{w.PID, aim(&w)}] = w
	}
	next := make(map[node.PID]node.PID)
	for _, w := range byPID {
		on := aim(w)
		if was, ok := before[point{w.PID, on}]; ok && !on.IsZero() && w.Wait.Time >= was.Wait.Time {
			next[w.PID] = on
		}
	}
	all = Waits{Waits: []Waiting{}, Total: again.Total}
	for _, cycle := range cyclesOf(next) {
		all.Cycles++
		all.Matched += len(cycle)
		members := make([]Waiting, len(cycle))
		for k, pid := range cycle {
			members[k] = *byPID[pid]
			members[k].Cycle = all.Cycles
		}
		if len(all.Waits)+len(members) <= limitOf(q) {
			all.Waits = append(all.Waits, fromLongest(members)...)
		}
	}
	return all, failed
}

// limitOf returns how many waits are listed of all nodes.
func limitOf(q WaitQuery) int {
	if q.Limit == 0 {
		return defaultLimit
	}
	return q.Limit
}

// askWaits asks some nodes at once, and merges their answers.
func askWaits(ctx context.Context, from node.Caller, nodes []node.Atom, q WaitQuery) (all Waits, failed map[node.Atom]error) {
	var mu sync.Mutex
	var asking sync.WaitGroup
	all.Waits, failed = []Waiting{}, make(map[node.Atom]error)
	for _, at := range nodes {
		asking.Go(func() { // until the answer, or the end of ctx
			w, err := WaitsAt(ctx, from, at, q)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[at] = err
				return
			}
			for _, e := range w.Waits {
				if e.Cycle > 0 {
					e.Cycle += all.Cycles
				}
				all.Waits = append(all.Waits, e)
			}
			all.Matched += w.Matched
			all.Total += w.Total
			all.Cycles += w.Cycles
		})
	}
	asking.Wait()
	return all, failed
}

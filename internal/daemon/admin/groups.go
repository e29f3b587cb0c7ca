package admin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// Group is all processes of a Query that have the same behaviour, code or parent.
type Group struct {
	// Key is the behaviour or the code; of a parent its name, label or behaviour, or "" if it is gone, or if they have been spawned
	// from outside: then Parent is zero.
	Key     string   `json:"key"`
	Parent  node.PID `json:"parent,omitzero" etf:",omitzero"`
	Count   int      `json:"count"`   // processes
	Growth  int      `json:"growth"`  // in Window: how many more there are; negative: fewer
	Started int      `json:"started"` // in Window; without those that have ended, too
	Mailbox int      `json:"mailbox"` // waiting messages of all
	Longest int      `json:"longest"` // waiting messages of the one with the most
	Handled uint64   `json:"handled"` // messages
	Rate    float64  `json:"rate,omitzero" etf:",omitzero"`
	Memory  int      `json:"memory"` // bytes, estimated
	Links   int      `json:"links"`
	// Monitors counts those by the processes and of them.
	Monitors int `json:"monitors"`
	// Groups is how many groups were added up: 1, of the rest of a listing more.
	Groups int `json:"groups,omitzero" etf:",omitzero"`
}

// maxGroups bounds the groups that are told apart; more are added up as others.
const maxGroups = 10_000

// groupOrders maps the sort keys of groups to functions that compare in the order of display.
var groupOrders = map[node.Atom]func(a, b *Group) int{
	"count":    func(a, b *Group) int { return cmp.Compare(b.Count, a.Count) },
	"growth":   func(a, b *Group) int { return cmp.Compare(b.Growth, a.Growth) },
	"mailbox":  func(a, b *Group) int { return cmp.Compare(b.Mailbox, a.Mailbox) },
	"handled":  func(a, b *Group) int { return cmp.Compare(b.Handled, a.Handled) },
	"rate":     func(a, b *Group) int { return cmp.Compare(b.Rate, a.Rate) },
	"memory":   func(a, b *Group) int { return cmp.Compare(b.Memory, a.Memory) },
	"links":    func(a, b *Group) int { return cmp.Compare(b.Links, a.Links) },
	"monitors": func(a, b *Group) int { return cmp.Compare(b.Monitors, a.Monitors) },
	"name":     func(a, b *Group) int { return cmp.Compare(a.Key, b.Key) },
}

// groupKey tells groups apart.
type groupKey struct {
	text   string
	parent node.PID
}

// keyOf returns the group of a process.
func (q *Query) keyOf(i *observe.Process) groupKey {
	switch q.By {
	case "code":
		return groupKey{text: i.Code}
	case "parent":
		return groupKey{parent: i.Parent}
	}
	return groupKey{text: i.Behaviour}
}

// validateGroups checks what is different if processes are grouped.
func (q *Query) validateGroups() error {
	if !slices.Contains([]node.Atom{"behaviour", "code", "parent"}, q.By) {
		return fmt.Errorf("%w: ps: by %s: want behaviour, code or parent", ErrBadRequest, q.By)
	}
	if q.Sort == "" || q.Sort == "pid" {
		q.Sort = "count"
	}
	if groupOrders[q.Sort] == nil {
		return fmt.Errorf("%w: ps: sort %s: want count, growth, mailbox, handled, rate, memory, links, monitors or name of groups",
			ErrBadRequest, q.Sort)
	}
	if q.Sort == "growth" && q.Window == 0 {
		q.Window = defaultWindow
	}
	return nil
}

// groups are the groups of a listing while it is made.
type groups struct {
	of     map[groupKey]*Group
	others Group
}

// find returns the group with a key: a new one, or that of the others if there are too many.
func (g *groups) find(key groupKey) *Group {
	at := g.of[key]
	switch {
	case at != nil:
	case len(g.of) >= maxGroups:
		return &g.others
	default:
		at = &Group{Key: key.text, Parent: key.parent, Groups: 1}
		g.of[key] = at
	}
	return at
}

// grouped makes a Listing of groups.
func (q *request) grouped(ask *Query) (any, error) {
	g := groups{of: make(map[groupKey]*Group)}
	var before map[uint64]uint64
	if ask.Window > 0 {
		before = make(map[uint64]uint64)
		for i := range q.n.Infos() {
			if p := lineOf(&i); ask.matches(&p, &i) {
				before[i.PID.Number()] = i.Handled
				g.find(ask.keyOf(&i)).Growth--
			}
		}
		if err := q.pause(ask.Window); err != nil {
			return nil, err
		}
	}
	l := Listing{Processes: []Process{}, By: ask.By, Groups: []Group{}}
	for i := range q.n.Infos() {
		l.Total++
		p := lineOf(&i)
		if !ask.matches(&p, &i) {
			continue
		}
		l.Matched++
		at := g.find(ask.keyOf(&i))
		if at.Count++; ask.Window > 0 {
			was, ok := before[i.PID.Number()]
			if at.Growth++; !ok {
				at.Started++
			}
			at.Rate += float64(i.Handled-min(was, i.Handled)) / ask.Window.Seconds()
		}
		at.Mailbox, at.Longest = at.Mailbox+p.Mailbox, max(at.Longest, p.Mailbox)
		at.Handled, at.Memory = at.Handled+p.Handled, at.Memory+procview.Bytes(&i)
		at.Links, at.Monitors = at.Links+p.Links, at.Monitors+p.Monitors
	}
	for _, at := range g.of {
		l.Groups = append(l.Groups, *at)
	}
	by := groupOrders[ask.Sort]
	slices.SortFunc(l.Groups, func(a, b Group) int {
		d := cmp.Or(by(&a, &b), cmp.Compare(a.Key, b.Key), comparePIDs(a.Parent, b.Parent))
		if ask.Reverse {
			return -d
		}
		return d
	})
	most := min(q.s.limit(ask.Limit), len(l.Groups))
	for _, more := range l.Groups[most:] {
		g.others.add(more)
	}
	l.Groups, l.Others = l.Groups[:most], g.others
	for k := range l.Groups {
		if at := &l.Groups[k]; !at.Parent.IsZero() {
			if i, err := q.n.Info(at.Parent); err == nil {
				at.Key = cmp.Or(string(i.Name), i.Label, i.Behaviour)
			}
		}
	}
	return toTerm(l)
}

// add adds another group.
func (g *Group) add(o Group) {
	g.Count, g.Growth, g.Started = g.Count+o.Count, g.Growth+o.Growth, g.Started+o.Started
	g.Mailbox, g.Longest = g.Mailbox+o.Mailbox, max(g.Longest, o.Longest)
	g.Handled, g.Rate, g.Memory = g.Handled+o.Handled, g.Rate+o.Rate, g.Memory+o.Memory
	g.Links, g.Monitors, g.Groups = g.Links+o.Links, g.Monitors+o.Monitors, g.Groups+o.Groups
}

// pause waits, or returns an error if the request has ended.
func (q *request) pause(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-q.worker.Context().Done():
		return cause.Of(q.worker.Context())
	}
}

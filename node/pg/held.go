package pg

import (
	"errors"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire/etf"
)

// These bound what other nodes make a scope keep, all of them together and each:
// [Config].Members and [Config].Groups.

// Defaults of Members and Groups of [Config].
const (
	DefaultMembers = 2_000_000
	DefaultGroups  = 200_000
)

const (
	// nameUnit bytes of a group's name, as others encode it, count as one group more.
	nameUnit = 1 << 10
	// maxName is how many of these the name of a group that another node asks for may have.
	maxName = 64
	// maxScopes is how many scope processes of one node are known. There is one as a rule,
	// and for a moment the one before it.
	maxScopes = 8
)

// errTooMany is the answer to a request that exceeds a limit.
var errTooMany = &tooMany{}

type tooMany struct{}

func (*tooMany) Error() string {
	return "pg: other nodes have reached their limit of members or groups in this scope"
}

// Is makes it a [node.ErrTooMany].
func (*tooMany) Is(target error) bool { return target == node.ErrTooMany }

// Term is system_limit.
func (*tooMany) Term() any { return node.Atom("system_limit") }

// limits are those of a scope, and count what they have refused.
type limits struct {
	members, groups atomic.Int64
	refused         [2]atomic.Uint64 // by amount
}

// set changes the limits. What is kept stays.
func (l *limits) set(members, groups int) {
	l.members.Store(int64(members))
	l.groups.Store(int64(groups))
}

// quotaKind is what others make a scope keep too much of.
type quotaKind uint8

const (
	ofMembers quotaKind = iota // scope processes too
	ofGroups
)

func (k quotaKind) String() string { return [...]string{"members", "groups"}[k] }

// holder is a node that makes the scope keep something.
//
// Invariants:
//
//  1. members is the sum of the lengths of the lists in the groups of its peers, and how
//     many of its processes are watchers.
//  2. groups is the sum of the weights of the groups in those lists, and of those that its
//     watchers watch; a group counts as often as it is in one.
//  3. It is in machine.holders exactly while it has a peer or a member.
type holder struct {
	at      node.Atom
	scopes  int
	members int
	groups  int
	logged  bool // that something was refused
}

// holder returns that of a node. The caller makes it keep something, or forgets it.
func (m *machine) holder(at node.Atom) *holder {
	if h := m.holders[at]; h != nil {
		return h
	}
	return &holder{at: at}
}

// refuse counts and logs that there is too much.
func (m *machine) refuse(h *holder, k quotaKind) bool {
	m.limits.refused[k].Add(1)
	if !h.logged && m.log != nil {
		h.logged = true
		m.log(h.at, k)
	}
	return false
}

// mayAddPeer reports whether one more scope process of a node may be known.
func (m *machine) mayAddPeer(h *holder) bool { return h.scopes < maxScopes || m.refuse(h, ofMembers) }

// mayHold returns how many of n more members h may have in g, named by term; g may be nil: there is no such group yet.
// first: h has none there.
func (m *machine) mayHold(h *holder, g *group, term any, first bool, n int) int {
	most := int(m.limits.members.Load())
	fits := min(share(most)-h.members, most-int(m.table.heldMembers.Load()), n)
	if fits < n {
		m.refuse(h, ofMembers)
	}
	if !first || fits <= 0 {
		return fits
	}
	w, groups := 0, int(m.limits.groups.Load())
	if g != nil {
		w = g.weigh()
	} else {
		w = weight(term)
	}
	switch {
	case w > maxName, h.groups+w > share(groups):
		m.refuse(h, ofGroups)
		return 0
	case (g == nil || g.holders == 0) && int(m.table.heldGroups.Load())+w > groups:
		m.refuse(h, ofGroups)
		return 0
	}
	return fits
}

// share is what one node may have, out of all for all nodes.
func share(all int) int { return max(1, all/2) }

// hold counts n more members of h in g; nil: in none. first: it had none there.
func (m *machine) hold(h *holder, g *group, first bool, n int) {
	m.holders[h.at] = h
	h.members += n
	m.table.heldMembers.Add(int64(n))
	if g == nil || !first {
		return
	}
	h.groups += g.weigh()
	if g.holders++; g.holders == 1 {
		m.table.heldGroups.Add(int64(g.weigh()))
	}
}

// drop takes back what hold has counted. last: h has none in g any more.
func (m *machine) drop(h *holder, g *group, last bool, n int) {
	h.members -= n
	m.table.heldMembers.Add(int64(-n))
	if g != nil && last {
		h.groups -= g.weigh()
		if g.holders--; g.holders == 0 {
			m.table.heldGroups.Add(int64(-g.weigh()))
		}
	}
	m.tidyHolder(h)
}

func (m *machine) tidyHolder(h *holder) {
	if h.scopes == 0 && h.members == 0 {
		delete(m.holders, h.at)
	}
}

// mayWatch reports whether a process may watch the group with the name term, or all. Those
// of this node may.
func (m *machine) mayWatch(pid node.PID, term any, all bool) bool {
	if pid.Origin() == m.self.Origin() {
		return true
	}
	var g *group
	if !all {
		g = m.table.find(term)
	}
	return m.mayHold(m.holder(pid.Node()), g, term, !all, 1) > 0
}

// mayJoin reports whether another node may make n processes of this one join a group: not if more had joined here than
// all others may have.
func (m *machine) mayJoin(term any, n int) bool {
	g := m.table.find(term)
	w := 0
	if g == nil || g.locals.Load() == 0 {
		w = weight(term)
	}
	switch {
	case m.here.members+n > int(m.limits.members.Load()):
		return m.refuse(&m.here, ofMembers)
	case w > maxName || m.here.groups+w > int(m.limits.groups.Load()):
		return m.refuse(&m.here, ofGroups)
	}
	return true
}

// weigh is how many groups g counts for.
func (g *group) weigh() int {
	if g.weight == 0 {
		g.weight = weight(g.term)
	}
	return g.weight
}

// weight is how many groups a group named term counts for: one, and one for each nameUnit.
func weight(term any) int {
	c, plain := tables.TermKey(term)
	if s, ok := c.(string); ok {
		return 1 + len(s)/nameUnit
	}
	if plain {
		return 1
	}
	b, err := etf.Append(nil, term)
	if err != nil {
		return maxName + 1 // it has not come from elsewhere
	}
	return 1 + len(b)/nameUnit
}

// fillLimits fills in the default limits.
func (c *Config) fillLimits() error {
	if c.Members < 0 || c.Groups < 0 {
		return errors.New("pg: Config.Members and Config.Groups must not be negative; 0 is the default")
	}
	if c.Members == 0 {
		c.Members = DefaultMembers
	}
	if c.Groups == 0 {
		c.Groups = DefaultGroups
	}
	return nil
}

// SetLimits replaces Config.Members and Groups; 0 is the default of each. Members stay in their groups, even if there
// are more than that: nothing is added until there is less.
func (s *Scope) SetLimits(members, groups int) error {
	c := Config{Members: members, Groups: groups}
	if err := c.fillLimits(); err != nil {
		return err
	}
	s.limits.set(c.Members, c.Groups)
	return nil
}

// Limits returns the limits of the scope, and how much of each is used, for metrics: they are named NAME_members and
// NAME_groups, where NAME is the scope's. Used is what all other nodes have together.
func (s *Scope) Limits() []observe.Limit {
	t := s.table.Load()
	name := string(s.cfg.Name)
	return []observe.Limit{
		{Name: name + "_members", Max: s.limits.members.Load(), Used: t.heldMembers.Load(),
			Refused: s.limits.refused[ofMembers].Load()},
		{Name: name + "_groups", Max: s.limits.groups.Load(), Used: t.heldGroups.Load(),
			Refused: s.limits.refused[ofGroups].Load()},
	}
}

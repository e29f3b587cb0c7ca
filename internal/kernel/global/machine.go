package global

import (
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Versions of the protocol between name servers.
const (
	Version = 8 // of this package

	oldestVersion = 5 // minimum of a peer
	proxied       = 6 // lockers communicate through name servers
	withVersions  = 7 // known nodes are sent with their versions; overlapping partitions are prevented
	verified      = 8 // a handshake is confirmed and can be cancelled
)

// Config configures a [Machine].
type Config struct {
	Self     wire.Atom
	Creation uint32
	// Locker and Registrar are the processes on whose behalf locks are requested.
	Locker, Registrar wire.PID
	Names             *tables.GlobalNames
	// Partial omits the handshake with nodes that connect: Erlang's connect_all false.
	Partial bool
	// Overlap leaves connections unchanged if partitions overlap: Erlang's prevent_overlapping_partitions false.
	Overlap bool
	// Rand returns a number from 0 to n-1.
	Rand func(n int) int
}

// ActionKind is a kind of actions.
type ActionKind uint8

const (
	_          ActionKind = iota
	Send                  // Msg to the name server of Node, if that is connected
	SendTo                // Msg to the process PID, if its node is connected
	Reply                 // Msg to From
	Ask                   // Msg as a gen_server call by PID of the name server of Node; Answered has the ID
	AskThere              // the same, but only if Node is connected
	Watch                 // the process PID from now on, connecting its node; Gone reports its exit
	Unwatch               // PID no longer
	Connect               // Node; Connected reports the result
	Disconnect            // Node
	Resolve               // the name Msg, a [Clash], on Node; Answered has the ID
	After                 // Delay; Timeout has the ID
	Warn                  // Msg, a text about Node
	Inform                // the same, less important
)

// Action is what the driver must do.
type Action struct {
	Kind  ActionKind
	Node  wire.Atom
	PID   wire.PID
	ID    uint64
	From  any
	Msg   any
	Delay time.Duration
}

// Clash is a name that two processes have.
type Clash struct {
	By           wire.Atom // the node that has sent the other process
	Method, Name any
	His, Ours    wire.PID
}

// Machine makes the decisions of the name server, its locker and its registrar. Create it with New. Its methods are events;
// each appends to the actions that Take returns.
type Machine struct {
	cfg     Config
	actions []Action
	queue   []func() // messages between the processes of this node, in order

	connected map[wire.Atom]bool
	known     map[wire.Atom]int  // the nodes of our partition, with their versions
	pending   map[wire.Atom]int  // nodes in a handshake, with their versions
	removing  map[wire.Atom]bool // nodes whose connection is being ended deliberately
	synced    []wire.Atom
	sessions  map[wire.Atom]*session
	resolvers map[wire.Atom]*resolver
	syncers   []*syncer
	watched   map[wire.PID]held
	locks     locks
	external  external
	lost      reports
	locker    locker
	registrar registrar
	tag       int
	lockDown  bool // the lock on names was last released by the exit of its holder
	closing   bool

	id     uint64
	asked  map[uint64]func(v any, ok bool)
	timers map[uint64]func()
	looks  map[wire.Atom]uint64 // timers of look
	joins  map[wire.Atom][]func(ok bool)

	restarts map[wire.Atom]int // how often the handshake with a node was restarted

	unreached map[wire.Atom]uint64 // nodes of the cluster that could not be connected, with the timers that remove them
}

// New returns the machine of a node that has just started, with the connected nodes.
func New(cfg Config, connected ...wire.Atom) *Machine {
	m := &Machine{
		cfg: cfg, connected: map[wire.Atom]bool{}, known: map[wire.Atom]int{}, pending: map[wire.Atom]int{},
		removing: map[wire.Atom]bool{}, sessions: map[wire.Atom]*session{}, resolvers: map[wire.Atom]*resolver{},
		watched: map[wire.PID]held{}, asked: map[uint64]func(any, bool){}, timers: map[uint64]func(){}, looks: map[wire.Atom]uint64{},
		joins: map[wire.Atom][]func(bool){}, unreached: map[wire.Atom]uint64{}, restarts: map[wire.Atom]int{},
	}
	for _, n := range connected {
		m.connected[n] = true
	}
	m.external.names = wire.MakeMap(0)
	m.locks.all = wire.MakeMap(0)
	m.lost.init(cfg)
	m.locker.m, m.registrar.m = m, m
	m.locker.boss = cfg.Self
	return m
}

// Take returns the actions since the last Take.
func (m *Machine) Take() []Action {
	all := m.actions
	m.actions = nil
	return all
}

func (m *Machine) do(a Action) { m.actions = append(m.actions, a) }

// cast sends a gen_server cast to the name server of a node.
func (m *Machine) cast(to wire.Atom, body wire.Tuple) {
	m.do(Action{Kind: Send, Node: to, Msg: wire.Tuple{wire.Atom("$gen_cast"), body}})
}

func (m *Machine) warn(node wire.Atom, text string) { m.do(Action{Kind: Warn, Node: node, Msg: text}) }
func (m *Machine) inform(node wire.Atom, text string) {
	m.do(Action{Kind: Inform, Node: node, Msg: text})
}

func (m *Machine) newID() uint64 {
	m.id++
	return m.id
}

// later calls f after the current event.
func (m *Machine) later(f func()) { m.queue = append(m.queue, f) }

// run delivers the messages between the processes of this node.
func (m *Machine) run() {
	for len(m.queue) > 0 {
		f := m.queue[0]
		m.queue = m.queue[1:]
		f()
	}
	m.queue = nil
}

// after calls f after d.
func (m *Machine) after(d time.Duration, f func()) uint64 {
	id := m.newID()
	m.timers[id] = f
	m.do(Action{Kind: After, ID: id, Delay: d})
	return id
}

// Timeout reports the end of an After.
func (m *Machine) Timeout(id uint64) {
	f := m.timers[id]
	delete(m.timers, id)
	if f != nil {
		f()
		m.run()
	}
}

// Answered reports the result of an Ask or a Resolve; ok is false if there will be none.
func (m *Machine) Answered(id uint64, v any, ok bool) {
	f := m.asked[id]
	delete(m.asked, id)
	if f != nil {
		f(v, ok)
		m.run()
	}
}

// connect connects a node, and then calls then.
func (m *Machine) connect(node wire.Atom, then func(ok bool)) {
	m.joins[node] = append(m.joins[node], then)
	if len(m.joins[node]) == 1 {
		m.do(Action{Kind: Connect, Node: node})
	}
}

// Connected reports the result of a Connect.
func (m *Machine) Connected(node wire.Atom, ok bool) {
	all := m.joins[node]
	delete(m.joins, node)
	for _, f := range all {
		f(ok)
	}
	m.run()
}

// answer is the answer of one node.
type answer struct {
	node wire.Atom
	v    any
}

// askAll queries the name servers of nodes, on behalf of the process by, and then calls then with the answers of those that
// have answered, in the order of nodes: gen_server:multi_call. Nodes are connected for it only to be locked: what is done
// under a lock must not reach a node that has lost the lock with its connection.
func (m *Machine) askAll(by wire.PID, nodes []wire.Atom, body wire.Tuple, then func(all []answer)) {
	if len(nodes) == 0 {
		then(nil)
		return
	}
	kind := AskThere
	if body[0] == any(wire.Atom("set_lock")) {
		kind = Ask
	}
	left, got := len(nodes), make([]*answer, len(nodes))
	for i, node := range nodes {
		done := func(v any, ok bool) {
			if ok {
				got[i] = &answer{node, v}
			}
			if left--; left > 0 {
				return
			}
			var all []answer
			for _, a := range got {
				if a != nil {
					all = append(all, *a)
				}
			}
			then(all)
		}
		if node == m.cfg.Self {
			m.later(func() { m.call(by, body, func(v any) { done(v, true) }) })
			continue
		}
		id := m.newID()
		m.asked[id] = done
		m.do(Action{Kind: kind, Node: node, PID: by, ID: id, Msg: body})
	}
}

// NodeUp reports that a visible node has been connected, before anything that it sends.
func (m *Machine) NodeUp(node wire.Atom) {
	if node == m.cfg.Self {
		return
	}
	m.connected[node] = true
	m.reached(node)
	if !m.cfg.Partial && !m.closing {
		m.greet(node)
		m.look(node, 0)
	}
	m.run()
}

// patience is how long a handshake may take before it is checked, and then again.
const patience = 2 * time.Minute

// look ends the connection to a node that does not progress: in the same handshake all the time, or in none and yet not
// known; or known here, while it does not know this node. Such states result from connections that are lost and made again
// during a handshake, and never end by themselves. A node that has not begun a handshake need not: it may be one with
// connect_all false.
func (m *Machine) look(node wire.Atom, tag int) {
	delete(m.timers, m.looks[node])
	m.looks[node] = m.after(patience, func() {
		delete(m.looks, node)
		_, known := m.known[node]
		_, pending := m.pending[node]
		switch {
		case !m.connected[node]:
			return
		case known:
			m.verify(node)
		case pending && m.tagOf(node) == tag, m.resolvers[node] == nil:
			m.beginAnew(node, "a handshake of global makes no progress: disconnecting to restart it")
		default:
			m.look(node, m.tagOf(node))
		}
	})
}

// verify asks a known node whether it knows this one, and starts again if not.
func (m *Machine) verify(node wire.Atom) {
	id := m.newID()
	m.asked[id] = func(v any, ok bool) {
		all, isList := atoms(v)
		if _, known := m.known[node]; ok && isList && known && !slices.Contains(all, m.cfg.Self) {
			m.beginAnew(node, "a node does not share global names with this one: disconnecting to restart the handshake")
		}
	}
	m.do(Action{Kind: AskThere, Node: node, PID: m.cfg.Registrar, ID: id, Msg: wire.Atom("get_known")})
}

func (m *Machine) beginAnew(node wire.Atom, why string) {
	m.warn(node, why)
	m.do(Action{Kind: Disconnect, Node: node})
}

// NodeDown reports that a connection has ended, after Gone of all processes of that node.
func (m *Machine) NodeDown(node wire.Atom) {
	if !m.connected[node] {
		return
	}
	m.forget(node, isLost)
	delete(m.connected, node)
	delete(m.timers, m.looks[node])
	delete(m.looks, node)
	m.run()
}

// Known returns the nodes of our partition, sorted.
func (m *Machine) Known() []wire.Atom { return slices.Sorted(maps.Keys(m.known)) }

// Unreached returns the nodes, sorted, that others have announced in the last minutes and that could not be connected.
func (m *Machine) Unreached() []wire.Atom { return slices.Sorted(maps.Keys(m.unreached)) }

// unreachedFor is how long a node that could not be connected is remembered: a dead one is soon no longer announced.
const unreachedFor = 5 * time.Minute

func (m *Machine) notReached(node wire.Atom) {
	m.reached(node)
	if len(m.unreached) < maxUnreached {
		m.unreached[node] = m.after(unreachedFor, func() { delete(m.unreached, node) })
	}
}

func (m *Machine) reached(node wire.Atom) {
	delete(m.timers, m.unreached[node])
	delete(m.unreached, node)
}

// Synced returns the nodes that have the same names.
func (m *Machine) Synced() []wire.Atom { return slices.Clone(m.synced) }

// Locks returns the number of locked resources.
func (m *Machine) Locks() int { return m.locks.all.Len() }

// Quiet reports whether nothing is in progress: no handshake, lock, query or request.
func (m *Machine) Quiet() bool {
	return len(m.pending) == 0 && len(m.resolvers) == 0 && m.locks.all.Len() == 0 && len(m.asked) == 0 &&
		len(m.joins) == 0 && len(m.syncers) == 0 && m.locker.isIdle() && m.registrar.isIdle()
}

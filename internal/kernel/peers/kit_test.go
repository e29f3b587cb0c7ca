package peers_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit/logtest"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"

	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

const (
	here  wire.Atom = "a@h"
	there wire.Atom = "b@h"
)

// What the host makes of the ends of processes and nodes.
var (
	exited   = processtest.Exited
	nodeDown = processtest.NodeDown
)

// wrapped is a reason that is another one on the wire: both sides read it as changed.
var wrapped = &values.Exit{Reason: "x"}

const changed wire.Atom = "changed"

// system is a node with one peer. It keeps the frames that are sent to that peer.
type system struct {
	process.System
	peers.Node // the methods the tests do not reach
	t          *testing.T
	peer       *peers.Peer
	frames     []dist.Frame
	counted    []string
	log        *logtest.Text
	lent       wire.Ref // the reference whose answer a call waits for
	waits      int      // bytes that wait at the link, as the link reports
}

// newSystem returns a system on which the peer may have most links, and as many monitors.
func newSystem(t *testing.T, most int, rules ...rights.Rule) *system {
	s := &system{t: t, log: &logtest.Text{}}
	processtest.Init(&s.System, processtest.Host{Node: s.reach}, wire.NodeID{Name: here, Creation: 7}, 1)
	codec := &values.Codec{Public: values.Public{
		Form:   func(v any) any { return v },
		OfForm: func(any) any { return changed },
	}}
	s.Values = codec
	s.Reports = new(watch.Reports)
	s.Reports.Init(s.log.Logger(), s.Env, func(name string, labels ...string) {
		s.counted = append(s.counted, fmt.Sprint(name, labels))
	})
	s.peer = peers.NewCluster(peers.ClusterConfig{
		System: &s.System, Origin: s.Origin, Node: s, Log: slog.New(slog.DiscardHandler), Shed: new(limits.Shed),
		Quota: limits.NewQuota(limits.Limits{Links: most, Monitors: most, Spawned: 10, Queued: 1 << 30, Answers: 1 << 30,
			Stall: time.Hour}),
		Limits: limits.Node{Queue: 1 << 20, Cluster: limits.Cluster{Connections: 1, ConnectionsPerSource: 1, Dials: 1}},
	}).Detached(there, link{system: s})
	if rules != nil {
		policy, err := rights.New(rights.Config{Rules: rules})
		require.NoError(t, err)
		s.peer.Visitor, s.Rights = limits.Visitor{Policy: policy, Who: rights.Identity{Name: there}}, policy
	}
	return s
}

// reach returns the peer while it is connected.
func (s *system) reach(name wire.Atom) process.Remote {
	if name != there || s.peer.IsOver() {
		return nil
	}
	return s.peer
}

// link keeps what is written to it.
type link struct {
	dist.Link
	*system
}

func (link) Read(*dist.Frame) error { panic("nobody reads") }

// Up, Down and BodyPath are part of peers.Node.
func (s *system) Up(*peers.Peer, dist.Peer) {}
func (s *system) Down(*peers.Peer)          {}
func (s *system) BodyPath(any) string       { return "" }

func (link) Peer() dist.Peer         { return dist.Peer{Addr: "addr"} }
func (link) Close() error            { return nil }
func (link) Flush(bool) (int, error) { return 0, nil }
func (s link) Write(f *dist.Frame) (int, error) {
	s.frames = append(s.frames, *f)
	return s.waits, nil
}

// said returns what has been written to the peer since the last call.
func (s *system) said() (all []dist.Frame) {
	all, s.frames = s.frames, nil
	return all
}

// far returns a PID of the peer, farRef a reference.
func far(number uint64) wire.PID    { return farNode.PID(number) }
func farRef(number uint64) wire.Ref { return farNode.RefOf(number) }

var farNode = wire.NewOrigin(wire.NodeID{Name: there, Creation: 3})

// earlier returns a PID of an earlier life of this node.
func earlier(number uint64) wire.PID {
	return wire.NewOrigin(wire.NodeID{Name: here, Creation: 6}).PID(number)
}

// proc is a process: a handle of the test.
type proc struct {
	*runner.Blocking
	t *testing.T
}

func (s *system) spawn(with ...func(*process.Process)) proc {
	b := new(runner.Blocking)
	b.Init(&s.System, nil)
	p := &b.Own
	p.System = &s.System
	p.ColdPart()
	p.Inbox.Claim()
	for _, f := range with {
		f(p)
	}
	id, ok := s.Table.Reserve(nil)
	require.True(s.t, ok)
	p.ID = id
	s.Table.Put(id, p)
	s.Count(&s.Plain, 1)
	return proc{b, s.t}
}

func trapping(p *process.Process)  { p.SetTrap(true) }
func protected(p *process.Process) { p.Protected = true }

func (p proc) register(name wire.Atom) {
	require.NoError(p.t, p.System.Names.Enter((*process.Named)(&p.Own), tables.NameEntry{Name: name}))
}

// took returns the messages of p.
func (p proc) took() (all []any) {
	for !p.Own.Gone() {
		msg, err := p.ReceiveWithin(0, nil)
		if err != nil {
			return all
		}
		all = append(all, msg)
	}
	return all
}

// linked reports whether p has a link.
func (p proc) linked(to wire.PID) bool {
	p.Own.Mu.Lock()
	defer p.Own.Mu.Unlock()
	return p.Own.HasLinkLocked(to)
}

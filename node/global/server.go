package global

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/internal/kernel/global"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/wire"
)

func init() {
	values.Enter(ErrNotPublished, ErrTaken)
}

// Config says how a published node takes part. All nodes of a cluster need the same Config.
type Config struct {
	// Partial makes no connections to nodes that nobody here uses, and shares no names: Erlang's connect_all false.
	Partial bool
	// Overlap keeps connections to nodes that others have lost: Erlang's prevent_overlapping_partitions false.
	Overlap bool
}

// Join makes a node published and part of global: it is for [node.Distribution].Published.
func Join(c Config) node.Publisher { return joined(c) }

type joined Config

// Publish is part of node.Publisher: it starts the name server.
func (j joined) Publish(_ process.Key, n *node.Node) error {
	sys := system(n)
	sys.Global = &tables.GlobalNames{Alive: func(pid node.PID) bool { return pid.Node() != n.Name() || n.IsAlive(pid) }}
	sys.Global.Ended = func(pid node.PID) { n.Inside(process.Key{}).Signal(sys.Global.Server(), global.Ended(pid)) }
	sys.Global.Look = func(ctx context.Context) (tables.GlobalState, error) {
		s, err := node.Call[global.State](ctx, n, sys.Global.Server(), global.Looking{})
		g := tables.GlobalState{Known: s.Known, Synced: s.Synced, Unreached: s.Unreached, Names: sys.Global.Len(), Locks: s.Locks}
		return g, err
	}
	exports := n.Inside(process.Key{}).ExportTable()
	for _, e := range otpExports() {
		exports.AddFunction(e, func(ctx context.Context, args []any) (any, error) {
			return applyOTP(exporter{n, ctx}, e, args)
		})
	}
	_, err := n.Inside(process.Key{}).Keep(context.Background(), process.Kept[node.Actor]{
		Name: groupProcess, ShowPeer: true, New: func() node.Actor { return node.ActorFunc(group) },
	})
	if err != nil {
		return err
	}
	_, err = n.Inside(process.Key{}).Keep(context.Background(), process.Kept[node.Actor]{
		Name: global.Name, ShowPeer: true,
		New: func() node.Actor { return &nameServer{partial: j.Partial, overlap: j.Overlap, log: n.Log()} },
		Ask: func(ctx context.Context, pid node.PID) error {
			_, err := node.Call[global.State](ctx, n, pid, global.Looking{})
			return err
		},
	})
	return err
}

// group is the process global_group of a node that belongs to none.
func group(c *node.Context, msg any) error {
	n := c.Node()
	by := n.Inside(process.Key{}).AskerOf(msg)
	names := exporter{n: n}
	if r, ok := n.AsRequest(msg); ok {
		_ = c.Reply(r.From, groupCall(r.Body, n.Name(), n.Nodes(), names))
		return nil
	}
	body, _ := node.AsCast(msg)
	if a := groupCast(body, n.Name(), names); !a.To.IsZero() && by.MayReach(a.To) {
		_ = c.SendOpt(node.SendOptions{NoWait: true}, a.To, a.Msg)
	}
	return nil
}

// handOn is the locker and the registrar.
func handOn(c *node.Context, msg any) error {
	m := global.FromHelper{Msg: msg}
	if p, ok := msg.(node.PeerMessage); ok {
		m = global.FromHelper{Via: p.Peer, Msg: p.Message}
	}
	return c.SendOpt(node.SendOptions{NoWait: true}, global.Name, m)
}

// nameServer is the process global_name_server.
type nameServer struct {
	partial, overlap bool // see Config
	log              *slog.Logger
	d                *global.Driver
}

// Init is part of Initializer. If another name server has ended, its state is lost: connections end, so that all starts again.
func (s *nameServer) Init(c *node.Context) error {
	n := c.Node()
	helper := node.Options{Link: true, Label: "global", ShowPeer: true, Protected: true, Daemon: true}
	locker, err := c.SpawnOpt(helper, node.ActorFunc(handOn))
	if err != nil {
		return err
	}
	registrar, err := c.SpawnOpt(helper, node.ActorFunc(handOn))
	if err != nil {
		return err
	}
	sys := system(n)
	sys.Global.Clear()
	sys.Global.Serve(c.Self())
	s.d = global.NewDriver(global.Config{
		Self: n.Name(), Creation: n.Creation(), Locker: locker, Registrar: registrar, Names: sys.Global,
		Partial: s.partial, Overlap: s.overlap, Rand: sys.Env.IntN,
	}, s.log)
	c.Inside(process.Key{}).TellLinks()
	for _, name := range n.Nodes() {
		n.Disconnect(name)
	}
	return nil
}

// State is what sys:get_state shows: which nodes it knows, with which of them it is synchronized, and how many
// locks there are.
func (s *nameServer) State() any {
	g := s.d.State()
	return wire.NewMap(wire.Atom("known"), atoms(g.Known), wire.Atom("synced"), atoms(g.Synced),
		wire.Atom("unreached"), atoms(g.Unreached), wire.Atom("locks"), g.Locks)
}

// atoms is a list of names as a term.
func atoms(names []node.Atom) wire.List {
	l := make(wire.List, len(names))
	for i, name := range names {
		l[i] = name
	}
	return l
}

var errNoCaller = errors.New("global: the request names no process as its caller, or one that would not get the reply")

// Receive is part of Actor.
func (s *nameServer) Receive(c *node.Context, msg any) error {
	whole, via, h := msg, node.Atom(""), host{c}
	if m, ok := msg.(node.PeerMessage); ok {
		via, msg = m.Peer, m.Message
	}
	switch m := msg.(type) {
	case peers.LinkUp:
		s.d.NodeUp(h, node.Atom(m))
	case peers.LinkDown:
		s.d.NodeDown(h, node.Atom(m))
	case node.Down:
		s.d.Down(h, m.Ref, m.PID)
	default:
		if r, ok := c.Node().AsRequest(whole); ok {
			by := r.Caller()
			if by.IsZero() {
				if r.Inside(process.Key{}).IsTerm() {
					_ = r.Fail(errNoCaller)
					return nil
				}
				by = c.Node().Inside(process.Key{}).Origin().PID(0) // a plain goroutine
			}
			s.d.Request(h, r.From, by, r.Body)
		} else if body, ok := node.AsCast(msg); ok {
			s.d.Cast(h, via, body)
		} else {
			s.d.Message(h, via, msg)
		}
	}
	return nil
}

// host is global.Host.
type host struct{ c *node.Context }

func (h host) Send(to node.Dest, msg any, connect bool) {
	_ = h.c.SendOpt(node.SendOptions{NoWait: true, NoConnect: !connect}, to, msg)
}

func (h host) Monitor(to node.Dest, connect bool) node.Ref {
	if connect {
		return h.c.Monitor(to)
	}
	return h.c.Inside(process.Key{}).MonitorConnected(to)
}

func (h host) Demonitor(ref node.Ref) { h.c.DemonitorFlush(ref) }

// Watch sets a mark on the process, which takes no memory; a monitor takes 200 bytes, and 350 more if it is the
// first to watch for the process's end.
func (h host) Watch(pid node.PID, on bool) {
	if !mark(system(h.c.Node()).Lookup(pid), on) && on {
		_ = h.c.Send(h.c.Self(), global.Ended(pid))
	}
}

// mark turns on or off that the name server is told of a process's end; false: the process has ended.
func mark(p *process.Process, on bool) bool {
	if p == nil {
		return false
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Gone() {
		return false
	}
	p.Global = on
	if on && p.Cold != nil {
		inbox.KeepOwned(p.Cold.Box)
	}
	return true
}

func (h host) Reply(from, v any) { _ = h.c.Reply(from.(node.From), v) }

func (h host) Later(d time.Duration, msg any) { _, _ = h.c.SendAfter(d, h.c.Self(), msg) }

func (h host) Start(by node.Atom, do func(w global.Worker) any) {
	self := h.c.Self()
	_, err := h.c.SpawnOpt(node.Options{Daemon: true, Label: "global", For: by}, node.ProcessFunc(func(p *node.Process) error {
		return p.SendOpt(node.SendOptions{NoWait: true}, self, do(exporter{p.Node(), p.Context()}))
	}))
	if err != nil { // too many processes
		_ = h.c.Send(self, do(nobody{}))
	}
}

// exporter is global.Worker and otpHost: what the functions that are exported for OTP's
// module global need.
type exporter struct {
	n   *node.Node
	ctx context.Context
}

func (e exporter) Connect(name node.Atom) bool { return e.n.Connect(e.ctx, name) == nil }

func (e exporter) Disconnect(name node.Atom) { e.n.Disconnect(name) }

func (e exporter) Apply(at, module, function node.Atom, args []any) (any, error) {
	ctx, cancel := system(e.n).Env.WithTimeout(e.ctx, time.Minute)
	defer cancel()
	own := at == "" || at == e.n.Name()
	switch {
	case own && module == "global" && function == "resolve_it": // by this node itself
		return applyOTP(e, wire.Export{Module: module, Function: function, Arity: len(args)}, args)
	case own:
		return e.n.Inside(process.Key{}).Apply(ctx, module, function, args)
	}
	// The other node takes it for a wish of this one.
	for _, arg := range args {
		if pid, ok := arg.(node.PID); ok && !e.by().MayEnd(pid) {
			return nil, node.ErrProtected
		}
	}
	if !e.mayChoose(args[0]) {
		return nil, node.ErrProtected
	}
	return node.Call[any](ctx, e.n, erpc.NewFunction(at, module, function, args), struct{}{})
}

// mayChoose reports whether the asking node may have another one call a method: one of OTP, whose effects are those on
// the processes; or a function that it may call here. It could call any other method by erlang:apply/2.
func (e exporter) mayChoose(method any) bool {
	f, ok := method.(wire.Export)
	switch {
	case !ok:
		f = wire.Export{Module: "erlang", Function: "apply", Arity: 2}
	case f == RandomExit || f == RandomNotify || f == NotifyAll:
		return true
	}
	return e.n.Inside(process.Key{}).AllowsIn(e.ctx, f)
}

// Kill is part of tables.GlobalEffects: it ends only processes that the exporter's asking node could end.
func (e exporter) Kill(pid node.PID) {
	if e.by().MayEnd(pid) {
		e.n.Exit(pid, node.Kill)
	}
}

// Tell is Kill for a message.
func (e exporter) Tell(pid node.PID, msg any) { _ = e.by().Send(pid, msg) }

// MayName is part of otpHost.
func (e exporter) MayName(pid node.PID) bool { return e.by().MayName(pid) }

// MayAct is part of otpHost.
func (e exporter) MayAct() bool { return e.by().MayAct() }

// by is the node on whose behalf the exporter acts: the node that called a function, or whose names clash with ours.
func (e exporter) by() peers.Account { return e.n.Inside(process.Key{}).AskerOf(e.ctx) }

func (e exporter) Ask(body any) (any, error) { return node.Call[any](e.ctx, e.n, global.Name, body) }

func (e exporter) Whois(name any) (node.PID, bool) { return Whois(e.n, name) }

func (e exporter) Names() []any { return Names(e.n) }

func (e exporter) Nodes() []node.Atom { return e.n.Nodes() }

func (e exporter) Self() node.Atom { return e.n.Name() }

// nobody is a global.Worker without a process.
type nobody struct{}

var errNobody = errors.New("global: too many processes for one more")

func (nobody) Connect(node.Atom) bool { return false }

func (nobody) Disconnect(node.Atom) {}

func (nobody) Apply(_, _, _ node.Atom, _ []any) (any, error) { return nil, errNobody }

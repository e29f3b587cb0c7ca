package node

import (
	"context"
	"iter"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/nodehook"

	"github.com/actornode/actornode/wire"
)

// What other packages of this module ask of a node, see package nodehook.
func init() {
	nodehook.Mailboxes = func(n nodehook.Node, pids []PID) []int { return runner.Mailboxes(&n.(*Node).sys, pids) }
	nodehook.Behaviours = func(n nodehook.Node, pids []PID) []string {
		return runner.EachOf(&n.(*Node).sys, pids, func(p *process.Process) string { return typeName(behaviourOf(p)) })
	}
	nodehook.Processes = func(n nodehook.Node) iter.Seq[PID] { return runner.PIDs(&n.(*Node).sys) }
	nodehook.Messages = func(n nodehook.Node, pid PID, max int) []any { return n.(*Node).messages(pid, max) }
	nodehook.Traffic = func(n nodehook.Node) (in, out uint64) { return n.(*Node).traffic() }
	nodehook.Release = func(n nodehook.Node, name Atom) int { return n.(*Node).release(name) }
	nodehook.ReleaseKnown = func(n nodehook.Node, name Atom) bool { return n.(*Node).releaseKnown(name) }
	nodehook.System = func(n nodehook.Node) any { return &n.(*Node).sys }
	nodehook.Origin = func(n nodehook.Node) wire.Origin { return n.(*Node).sys.Origin }
	nodehook.Tracing = func(n nodehook.Node) any { return &n.(*Node).sys.Tracing }
	nodehook.MaxProcesses = func(n nodehook.Node) int { return n.(*Node).cfg.MaxProcesses }
	nodehook.Acting = func(from any) any { return from.(Caller).caller() }
	nodehook.InPlace = func(p any) any { return p.(Place).p }
	nodehook.OfPlace = func(p any) any { return Place{p.(runner.Place)} }
	nodehook.Of = func(from any) any { return nodeOf(from.(Caller).caller().System) }
	nodehook.Resolve = func(from any, to Dest) (PID, bool) { return from.(Caller).caller().System.Resolve(to) }
	nodehook.Count = func(n nodehook.Node, name string, labels ...string) { n.(*Node).counts.Add(name, labels...) }
	nodehook.Counts = func(n nodehook.Node, name string) []counter.Count { return n.(*Node).counts.All(name) }
	nodehook.Shed = func(n nodehook.Node, on bool) { n.(*Node).shed.Set(on) }
	nodehook.SetStopTimeout = func(n nodehook.Node, d time.Duration) { n.(*Node).stopTime.Store(int64(d)) }
	nodehook.Shedding = func(n nodehook.Node) (on bool, refused uint64) { return n.(*Node).shed.State() }
	nodehook.DefaultClusterLimits = func(tick time.Duration) any { return ClusterLimits(limits.Default(tick, peers.TicksPerTime)) }
	nodehook.Keep = func(c context.Context, n nodehook.Node, s nodehook.Service) (PID, error) { return n.(*Node).keep(c, s) }
	nodehook.CheckServices = func(n nodehook.Node, ctx context.Context) error { return n.(*Node).checkServices(ctx) }
	nodehook.Leader = func(n nodehook.Node, pid PID) PID { return n.(*Node).leaderOf(pid) }
	nodehook.Exports = func(n nodehook.Node) []wire.Export { return n.(*Node).exports.All() }
	nodehook.ExportTable = func(n nodehook.Node) any { return &n.(*Node).exports }
	nodehook.Apply = func(n nodehook.Node, ctx context.Context, module, function Atom, args []any) (any, error) {
		return n.(*Node).callExported(ctx, module, function, args)
	}
	nodehook.Linked = func(from any, to Dest) bool { return coreOf(from).linked(to) }
	nodehook.MonitorConnected = func(from any, to Dest) Ref {
		c := coreOf(from)
		return c.Node().monitorConnected(c.by.Own(), c.by, to)
	}
	nodehook.TellLinks = func(c any) { coreOf(c).Node().watchers.Serve(coreOf(c).by.Own()) }
	nodehook.AwaitAll = func(from any, ctx context.Context, futures ...any) { awaitAll(from.(Caller).caller(), ctx, futures) }
	nodehook.Alias = func(from any, once bool, as func(any) (any, bool)) Ref { return coreOf(from).by.Alias(once, as) }
	nodehook.MadeBy = func(from any) Atom { return from.(From).madeBy() }
	nodehook.AskerOf = func(it any, n nodehook.Node) nodehook.Asker {
		a := account{n: n.(*Node)}
		switch it := it.(type) {
		case context.Context:
			a.Asker = peers.AskerIn(it)
		case From:
			a.Asker = it.asker()
		case PeerMessage:
			a.Asker = a.n.asker(&it)
		}
		return a
	}
	nodehook.RegisterFor = func(n nodehook.Node, by, name Atom, pid PID) error { return n.(*Node).registerFor(by, name, pid) }
	nodehook.CallFar = func(a, t any, to PID, at At, req any) bool {
		by := a.(*process.Acting)
		return nodeOf(by.System).callFar(by, true, t.(process.Ticket), to, at, req)
	}
	nodehook.Typed = func(n, body, f any) any { return n.(*Node).types.maker(body).request(body, f.(From)) }
	nodehook.IsTerm = func(from any) bool { return from.(From).isTerm() }
	nodehook.Allows = func(from any, e wire.Export) bool { return from.(From).allows(e) }
	nodehook.GrantedTo = func(from any) (any, any) { return from.(From).granted(), from.(From).identity() }
	nodehook.ReadFrom = func(n nodehook.Node, via, term any) (any, bool) {
		peer, _ := viaPeer(via)
		return n.(*Node).readFrom(peer, term)
	}
	nodehook.AsCast = asCast
	nodehook.Know = know
	nodehook.Panicked = func(cause any) any { return panicked(cause) }
	nodehook.CrashDetails = func(from any, attrs ...any) {
		p := coreOf(from).by.Own()
		p.Mu.Lock()
		defer p.Mu.Unlock()
		p.ColdPart().Crash = &attrs
	}
	nodehook.ReportCrash = func(n nodehook.Node, reason any, attrs ...any) bool {
		c, ok := reason.(*Crash)
		return ok && n.(*Node).reports.Decided(c, attrs...)
	}
	nodehook.ErrorTerm = errorTerm
	nodehook.IsExit = isExit
	nodehook.ReasonOf = reasonOf
}

// coreOf returns the process that a *Context or a *Process stands for.
func coreOf(from any) *core {
	if c, ok := from.(*Context); ok {
		return &c.core
	}
	return &from.(*Process).core
}

// account is nodehook.Asker.
type account struct {
	*peers.Asker
	n *Node
}

func (a account) Protected(pid PID) bool {
	q := a.n.sys.Lookup(pid)
	return q != nil && a.IsKeptFrom(q)
}

func (a account) Send(to Dest, msg any) error { return a.n.sendFor(&a.n.sys.Plain, a.Asker, to, msg) }

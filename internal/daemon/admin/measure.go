package admin

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// status makes the Summary.
func (q *request) status() (any, error) {
	n, s := q.n, q.s
	stats := n.Stats()
	v := Summary{
		Node: n.Name(), Creation: n.Creation(), Version: s.cfg.Version,
		Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, PID: os.Getpid(),
		Started: Time{s.cfg.Started}, Uptime: time.Since(s.cfg.Started),
		Draining: s.drain.isActive(), Listeners: s.listeners(n),
		Processes: stats.Processes, MaxProcesses: n.Inside(process.Key{}).MaxProcesses(),
		Names: stats.Names, Lingering: stats.Lingering,
		Stages: stats.Scheduler.Stages, RunQueue: stats.RunQueue, Goroutines: stats.Goroutines, CPUs: runtime.GOMAXPROCS(0),
		Handled: stats.Handled, BlockedTurns: stats.BlockedTurns, DeadLetters: make(map[node.Atom]uint64),
		Peers: peers(n),
	}
	if s.cfg.Level != nil {
		v.LogLevel = levelAtom(s.cfg.Level.Level())
	}
	for cause, k := range stats.DeadLetters {
		v.DeadLetters[node.Atom(cause.String())] = k
	}
	v.Ready = !v.Draining
	if s.cfg.Ready != nil {
		if err := s.cfg.Ready(); err != nil {
			v.Ready, v.NotReady = false, err.Error()
		}
	} else if v.Draining {
		v.NotReady = "the node is being drained"
	}
	v.Memory, v.Runnable = measurements()
	v.Global = lookGlobal(n)
	return toTerm(v)
}

// globalTime bounds the answer of the name server.
const globalTime = time.Second

// lookGlobal asks the name server of a published node. It returns nil if the node is hidden or the server does not answer.
func lookGlobal(n *node.Node) *Global {
	names := n.Inside(process.Key{}).System().Global
	if names == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), globalTime)
	defer cancel()
	g, err := names.Look(ctx)
	if err != nil {
		return nil
	}
	return new(Global(g))
}

func (s *service) listeners(n *node.Node) []string {
	if s.cfg.Listeners != nil {
		return s.cfg.Listeners()
	}
	l := []string{}
	for _, e := range n.Endpoints() {
		l = append(l, e.String())
	}
	return l
}

// measurements reads Go's own counters.
func measurements() (m Memory, runnable int) {
	v := procview.Metrics("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/objects:bytes",
		"/memory/classes/heap/stacks:bytes", "/gc/cycles/total:gc-cycles", "/sched/goroutines/runnable:goroutines")
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return Memory{Total: v[0] - v[1], Objects: v[2], Stacks: v[3], Cycles: v[4], Paused: gc.PauseTotal}, v[5]
}

// nodes lists the Peers.
func (q *request) nodes() (any, error) { return toTerm(peers(q.n)) }

func peers(n *node.Node) []Peer {
	l := []Peer{}
	for _, i := range n.Peers() {
		p := Peer{
			Name: i.Name, State: "connecting", Protocol: i.Protocol, Addr: i.Addr, Creation: i.Creation, Hidden: i.Hidden,
			Since: Time{i.Since}, Queue: i.Queue, Frames: i.Frames, Held: i.Held,
			BytesIn: i.BytesIn, BytesOut: i.BytesOut, FramesIn: i.FramesIn, FramesOut: i.FramesOut,
		}
		if i.Up {
			p.State, p.Silent = "up", time.Since(i.LastIn)
		}
		l = append(l, p)
	}
	byName := func(a, b Peer) int { return cmp.Compare(a.Name, b.Name) }
	known := len(l)
	for _, w := range n.Wanted() {
		i, ok := slices.BinarySearchFunc(l[:known], Peer{Name: w.Name}, byName)
		if !ok && w.Up {
			continue // lost in the meantime
		}
		if !ok {
			l = append(l, Peer{Name: w.Name, State: "lost"})
			i = len(l) - 1
		}
		l[i].Wanted = w.Listed
		if l[i].State != "up" {
			l[i].Since, l[i].Failure, l[i].Next = Time{w.Since}, w.Failure, Time{w.Next}
		}
	}
	slices.SortFunc(l, byName)
	return l
}

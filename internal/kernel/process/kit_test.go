package process_test

import (
	"errors"
	"fmt"
	"github.com/actornode/actornode/internal/sched/fiber"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

const (
	here  wire.Atom = "a@h"
	there wire.Atom = "b@h"
)

// What the host makes of the ends of processes and nodes.
var (
	exited   = processtest.Exited
	nodeDown = processtest.NodeDown
	result   = processtest.Result
	crash    = processtest.Crash
	failed   = processtest.Failed
)

// system is the host of the processes of a node that does not exist; the other nodes are made up.
type system struct {
	process.System
	processtest.Host
	t          *testing.T
	remotes    map[wire.Atom]*remote
	crashed    []process.Crash
	unanswered []string                         // what, why, raw
	answers    func(ref wire.Ref, msg any) bool // Answered; nil: it answers nothing
	asked      []func(wire.PID, any)            // by Whereis, not answered yet
	log        []string                         // events whose order matters
	letters    *deadletter.Stream
}

func newSystem(t *testing.T) *system {
	s := &system{t: t, remotes: make(map[wire.Atom]*remote)}
	processtest.Init(&s.System, s, wire.NodeID{Name: here, Creation: 7}, 1000)
	s.Node, s.Me = s.reach, s.Origin.PID(1<<40)
	s.letters = s.Dead.Open(1000)
	return s
}

// Whereis and the methods after it are part of process.Host, as far as the tests need them.
func (s *system) Whereis(_ *process.Acting, _ wire.At, then func(wire.PID, any)) {
	s.asked = append(s.asked, then)
}
func (s *system) Crashed(c process.Crash) func() {
	if processtest.IsCrash(c.Reason) {
		s.crashed = append(s.crashed, c)
	}
	return nil
}
func (s *system) Answered(ref wire.Ref, msg any) bool { return s.answers != nil && s.answers(ref, msg) }
func (s *system) Unanswered(msg any, why error, raw bool) bool {
	s.unanswered = append(s.unanswered, fmt.Sprint(msg, " ", why, " ", raw))
	return false
}

// reach returns another node, nil: it is not connected. A nil *remote is not a nil Remote.
func (s *system) reach(name wire.Atom) process.Remote {
	if r := s.remotes[name]; r != nil {
		return r
	}
	return nil
}

// connect makes a connection to a node.
func (s *system) connect(name wire.Atom) *remote {
	r := &remote{system: s, name: name}
	s.remotes[name] = r
	return r
}

// dead returns the dead letters since the last call.
func (s *system) dead() (all []string) {
	for {
		select {
		case l := <-s.letters.C:
			to := any(l.To)
			switch {
			case l.Name != "":
				to = l.Name
			case !l.Alias.IsZero():
				to = "alias"
			}
			all = append(all, fmt.Sprint(l.Cause, " ", to, " ", l.Message))
		default:
			return all
		}
	}
}

// note adds to the log; took returns the log and begins another.
func (s *system) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *system) noted() (all []string) {
	all, s.log = s.log, nil
	return all
}

// far returns a PID of another node.
func far(number uint64) wire.PID {
	return wire.NewOrigin(wire.NodeID{Name: there, Creation: 3}).PID(number)
}

// earlier returns a PID of an earlier life of this node.
func earlier(number uint64) wire.PID {
	return wire.NewOrigin(wire.NodeID{Name: here, Creation: 6}).PID(number)
}

// proc is a process without code: the test acts in its place, through as, and takes its messages. It runs on no stage.
type proc struct {
	process.Process
	as     process.Acting
	owner  *system
	name   string // in the log; "": nothing about it is logged
	wakes  int
	exits  []string // what Exited was told
	busy   bool     // what Busy says
	onWake func()
}

func (s *system) spawn(with ...func(*proc)) *proc {
	p := &proc{owner: s}
	p.Kind = process.External
	p.System = &s.System
	p.Adopt(p, nil, false)
	p.as = process.Acting{System: &s.System, Process: &p.Process, Local: &process.Local{Tally: s.Tally.New()}}
	for _, f := range with {
		f(p)
	}
	id, ok := s.Table.Reserve(nil)
	require.True(s.t, ok)
	p.ID = id
	s.Table.Put(id, &p.Process)
	s.Count(&s.Plain, 1)
	return p
}

func named(name string) func(*proc) { return func(p *proc) { p.name = name } }

// kept makes a process's reason remembered when the process ends itself: one that has had nothing but its messages
// leaves none.
func kept(p *proc) { p.ColdPart() }

func trapping(p *proc) { p.SetTrap(true) }

// boxed gives the process a mailbox of its own.
func boxed(l *inbox.Bounded) func(*proc) {
	return func(p *proc) { p.ColdPart().Box, p.Boxed = l, true }
}

// child makes the process a child of another.
func child(of *proc) func(*proc) { return func(p *proc) { p.Parent = of.ID + 1 } }

func (p *proc) register(name wire.Atom) {
	require.NoError(p.owner.t, p.owner.Names.Enter((*process.Named)(&p.Process), tables.NameEntry{Name: name}))
}

// took returns the messages of p, and arms its mailbox.
func (p *proc) took() (all []any) {
	for p.Refill() {
	}
	p.Queue.Rewind()
	for msg, ok := p.Queue.Next(); ok; msg, ok = p.Queue.Next() {
		all = append(all, watch.BareMessage(msg))
		p.Settle(nil, nil)
	}
	p.Intake().Arm()
	return all
}

func (p *proc) links() (all []wire.PID) {
	if p.Tied {
		all = append(all, p.System.Origin.PID(p.Parent-1))
	}
	if p.Cold != nil {
		all = slices.AppendSeq(all, p.Cold.Links.All())
	}
	return all
}

// die makes p end itself.
func (p *proc) die(reason any) { p.Exit(&p.as, reason) }

func (p *proc) Turn(*executor.Worker) executor.TurnResult { panic("no stage runs this process") }
func (p *proc) CollectInbox(*executor.Stage) bool         { return false }
func (p *proc) FinishDetached(*executor.Stage) bool       { return false }
func (p *proc) Claim() bool                               { return p.Inbox.Claim() }
func (p *proc) Wake(*process.Acting) {
	p.wakes++
	if p.name != "" {
		p.owner.note("wake %s", p.name)
	}
	if p.onWake != nil {
		p.onWake()
	}
}
func (p *proc) Prod(a *process.Acting)                              { p.Wake(a) }
func (p *proc) Start(*process.Acting, *executor.InlineWorker, bool) {}
func (p *proc) Busy(*process.Acting) bool                           { return p.busy }
func (p *proc) Owning(_ *process.Acting, f func())                  { f() }
func (p *proc) Inspect(f func())                                    { f() }
func (p *proc) Doing() (observe.State, int)                         { return observe.Idle, -1 }
func (p *proc) Exited(_ *process.Acting, armed, own bool) {
	p.exits = append(p.exits, fmt.Sprintf("armed %v own %v", armed, own))
	if p.name != "" {
		p.owner.note("end %s", p.name)
	}
}

// remote is a node that notes what it is told.
type remote struct {
	system *system
	name   wire.Atom
	over   bool // the connection is over
	said   []string
	paced  int
	then   func() // called at the end of Monitor and of Pace, once; nil: nothing
}

// next calls the function that was due.
func (r *remote) next() {
	if f := r.then; f != nil {
		r.then = nil
		f()
	}
}

func (r *remote) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *remote) told() (all []string) {
	all, r.said = r.said, nil
	return all
}

func (r *remote) Link(near *process.Process, far wire.PID) bool {
	if r.over {
		return false
	}
	near.AddLinkLocked(far)
	r.say("link %v", far)
	return true
}

func (r *remote) Unlink(near *process.Process, far wire.PID) { r.say("unlink %d %v", near.ID, far) }
func (r *remote) Exit(near uint64, far wire.PID, reason any) {
	r.say("exit %d %v %v", near, far, reason)
}
func (r *remote) Signal(from, to wire.PID, reason any) { r.say("exit2 %v %v %v", from, to, reason) }
func (r *remote) Monitor(m *process.Monitor) bool {
	if r.over {
		return false
	}
	r.say("monitor %v %s %v", m.PID, m.Name, m.Node)
	r.next()
	return true
}
func (r *remote) Demonitor(m *process.Monitor) { r.say("demonitor %v %s", m.PID, m.Name) }
func (r *remote) Down(m *process.Monitor, pid wire.PID, reason any) {
	r.say("down %v %v %v", m.By, pid, reason)
}
func (r *remote) Pace(*process.Acting) { r.paced++; r.next() }
func (r *remote) NodeName() wire.Atom  { return r.name }
func (r *remote) Why() error           { return errors.New("it is over") }

var errTest = errors.New("test")

// pass advances the time in a bubble, until all goroutines wait.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// marked calls f as the code of the process with the mark.
//
//go:noinline
func marked(_ fiber.Mark, f func()) { f() }

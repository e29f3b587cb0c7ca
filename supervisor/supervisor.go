package supervisor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// supervisor is the Actor. It never blocks: where OTP's supervisor waits for a child in a receive, this one handles the
// next message, but queues messages that are unrelated to the wait.
type supervisor struct {
	spec     Spec
	dynamic  *Dynamic // nil: of New
	children children
	restarts window
	sys      sysmsg.System
	c        *node.Context // of the current message

	wait       *wait        // the current wait, or nil
	queued     queue        // messages that arrived during the wait
	parentExit *node.Exited // the exit signal in queued that will end the supervisor
	begun      bool         // all children have been started
	ending     bool
}

// wait describes what a supervisor is waiting for.
type wait struct {
	kind      waitKind
	k         *child
	pid       node.PID
	ref       node.Ref      // the monitor, while stopping
	reason    any           // the reason of the exit signal, once it has arrived
	hasReason bool          // reason is set
	timers    []*node.Timer // of the children's shutdown
	onDone    func(o outcome) error
}

type waitKind uint8

const (
	waitStart waitKind = iota // of the child k, as pid: Started, or its exit
	waitStop                  // of the child k: Down
	waitAll                   // of all dynamic children
)

// outcome is the result of a wait.
type outcome struct {
	pid     node.PID // of the started process
	reason  any      // of a failed start or an exit
	failed  bool
	ignored bool
}

// New returns a supervisor as an Actor, for a child's Start or for a spawn. It has started when all its children have
// started.
func New(s Spec) node.Actor { return &supervisor{spec: s} }

// BehaviourName implements node.BehaviourNamer.
func (s *supervisor) BehaviourName() string { return "supervisor" }

// messages to itself
type (
	// retry means that the restart of k is due. counted means that it was counted when k exited.
	retry struct {
		k       *child
		try     uint16 // if k has a different try, this retry is obsolete
		counted bool
	}
	// outOfTime means that the time is over for the child, or the dynamic children with that Shutdown, that w waits for.
	outOfTime struct {
		w        *wait
		shutdown time.Duration
	}
	// sweepDone arrives after the exit signals of the children that were dead when it was sent.
	sweepDone struct{ w *wait }
)

// Init implements node.Initializer.
func (s *supervisor) Init(c *node.Context) error {
	s.c = c
	c.TrapExit(true)
	s.spec.Children = append([]Child(nil), s.spec.Children...)
	if err := s.spec.complete(); err != nil {
		return node.ExitWith(wire.Tuple{aSupervisorData, values.ErrorTerm(err)})
	}
	if s.spec.Strategy == SimpleOneForOne && len(s.spec.Children) != 1 {
		return node.ExitWith(wire.Tuple{aBadStartSpec, specTerms(s.spec.Children)})
	}
	if err := CheckSpecs(s.spec.Children, s.spec.AutoShutdown); err != nil {
		return node.ExitWith(wire.Tuple{aStartSpec, values.ErrorTerm(err)})
	}
	for i := range s.spec.Children {
		k := &s.spec.Children[i]
		k.complete(s.spec.AutoShutdown)
		if s.spec.Strategy != SimpleOneForOne {
			s.children.save(&child{spec: k})
		}
	}
	model := s.spec.Children
	if s.spec.Strategy != SimpleOneForOne {
		s.spec.Children = nil // children has them
	} else {
		s.spec.Children = model[:1]
	}
	err := s.startFrom(s.children.first, nil, func(failed *child, reason any) error {
		s.begun = true
		if failed == nil {
			c := s.c
			c.Announce()
			return nil
		}
		s.report("start_error", reason, failed, "the supervisor ends")
		return s.end(failedToStart(failed.id(), reason).Reason)
	})
	switch {
	case err != nil:
		return err
	case s.begun && !s.ending:
		return nil
	}
	return node.ErrPending
}

// template returns the spec of the children of SimpleOneForOne.
func (s *supervisor) template() *Child { return &s.spec.Children[0] }

func (s *supervisor) simple() bool { return s.spec.Strategy == SimpleOneForOne }

// Receive implements node.Actor.
func (s *supervisor) Receive(c *node.Context, msg any) error {
	s.c = c
	if s.wait != nil {
		return s.resume(s.handleWhileWaiting(msg))
	}
	return s.resume(s.handle(msg))
}

// resume handles queued messages until the next wait begins. While the supervisor is suspended it handles only those that a
// suspended behaviour handles.
func (s *supervisor) resume(err error) error {
	for err == nil && s.wait == nil {
		msg, ok := s.queued.pop(s.urgent())
		if !ok {
			break
		}
		err = s.handle(msg)
	}
	return err
}

// handle handles a message while there is no wait.
func (s *supervisor) handle(msg any) error {
	switch m := msg.(type) {
	case node.Exited:
		return s.exited(m)
	case retry:
		if m.k.phase == restarting && m.k.try == m.try {
			return s.retryRestart(m)
		}
		return nil
	case node.Down, node.Started, outOfTime, sweepDone:
		return nil // from an earlier wait
	}
	if r, ok := sysmsg.Parse(s.c.Node(), msg); ok {
		return s.sys.Handle(s.c, system{s}, r)
	}
	if r, ok := s.c.Node().AsRequest(msg); ok {
		return s.handleRequest(r, r.From.Inside(process.Key{}).IsTerm())
	}
	s.c.Node().Log().Error("supervisor received an unexpected message", "supervisor", sysmsg.DisplayName(s.c),
		"message", sysmsg.Brief(s.c.Node(), msg))
	return nil
}

// handleWhileWaiting handles a message during a wait.
func (s *supervisor) handleWhileWaiting(msg any) error {
	w := s.wait
	switch m := msg.(type) {
	case node.Started:
		if w.kind == waitStart && m.PID == w.pid {
			return s.finishWait(outcome{pid: m.PID, ignored: m.Ignored})
		}
		return nil
	case node.Down:
		switch {
		case w.kind == waitStop && m.Ref == w.ref:
			if !w.hasReason && m.Reason == node.NoProc {
				w.reason, w.hasReason = s.queued.exitOf(w.pid)
			}
			if w.hasReason {
				m.Reason = w.reason
			}
			err := s.finishWait(outcome{reason: m.Reason})
			s.unknown(m.Reason)
			return err
		case w.kind == waitAll:
			return s.dynamicExited(m.PID, m.Reason)
		}
		return nil
	case outOfTime:
		if m.w == w {
			s.waitTimedOut(w, m.shutdown)
		}
		return nil
	case sweepDone:
		if m.w == w {
			s.monitorRemaining()
		}
		return nil
	case node.Exited:
		switch {
		case w.kind == waitStart && m.From == w.pid:
			err := s.finishWait(outcome{failed: true, reason: m.Reason})
			s.unknown(m.Reason)
			return err
		case w.kind == waitStop && m.From == w.pid:
			w.reason, w.hasReason = m.Reason, true
			return nil
		case w.kind == waitAll && s.children.byPID[m.From] != nil:
			return s.dynamicExited(m.From, m.Reason)
		case w.kind == waitStart && s.fatal(m):
			// OTP's supervisor would not handle it before the child has started, which may never happen.
			s.c.Unlink(w.pid)
			s.c.Exit(w.pid, node.Kill)
			s.wait = nil
			return s.end(m.Reason)
		case s.parentExit == nil && s.fatal(m):
			s.parentExit = &m
		}
	}
	s.queued.push(msg)
	return nil
}

// finishWait ends the wait and continues with its outcome.
func (s *supervisor) finishWait(o outcome) error {
	w := s.wait
	s.wait = nil
	for _, t := range w.timers {
		t.Cancel()
	}
	return w.onDone(o)
}

// fatal reports whether an exit signal ends the supervisor: that of its parent, or one without a sender, as sent by
// Node.Stop.
func (s *supervisor) fatal(m node.Exited) bool {
	return m.From == s.c.Parent() || m.From.IsZero()
}

// exited handles an exit signal.
func (s *supervisor) exited(m node.Exited) error {
	k := s.children.byPID[m.From]
	if k == nil {
		s.unknown(m.Reason)
		if s.fatal(m) {
			return s.end(m.Reason)
		}
		return nil
	}
	if s.nodeStops() {
		if !s.expected(k.spec, m.Reason) {
			s.report("child_terminated", m.Reason, k, "none: the node stops")
		}
		s.drop(k)
		return nil // the supervisor will be stopped, too
	}
	others := s.children.liveSignificant
	if k.spec.Significant {
		others--
	}
	a := decide(&s.spec, k.spec, m.Reason, others, &s.restarts, time.Now())
	if a.report {
		s.report("child_terminated", m.Reason, k, a.decision(k))
	}
	s.children.down(k, stopped)
	var wait time.Duration
	if a.restart != none {
		wait = k.wait(time.Now())
	}
	return s.act(k, a, wait)
}

// nodeStops reports whether the node is being stopped: it tells all processes to exit, in no particular order.
func (s *supervisor) nodeStops() bool {
	select {
	case <-s.c.Node().Done():
		return true
	default:
		return false
	}
}

// retryRestart handles a restart that is due.
func (s *supervisor) retryRestart(r retry) error {
	k := r.k
	if r.counted {
		return s.restart(k, s.spec.Strategy.span())
	}
	return s.act(k, decideRetry(&s.spec, &s.restarts, time.Now()), 0)
}

func (s *supervisor) act(k *child, a action, wait time.Duration) error {
	if a.limit {
		s.report("shutdown", wire.Atom("reached_max_restart_intensity"), k, a.decision(k))
		s.tally(counter.Shutdowns)
	}
	if a.drop {
		s.drop(k)
	}
	switch {
	case a.end:
		return s.end(node.Shutdown)
	case a.restart == none:
		return nil
	case wait == 0:
		return s.restart(k, a.restart)
	}
	return s.stopSpan(k, a.restart, func() error {
		return s.retryLater(k, wait, true)
	})
}

// retryLater schedules a restart of k.
func (s *supervisor) retryLater(k *child, wait time.Duration, counted bool) error {
	s.children.down(k, restarting)
	k.try++
	r := retry{k: k, try: k.try, counted: counted}
	if wait == 0 {
		return s.c.Send(s.c.Self(), r)
	}
	if _, err := s.c.SendAfter(wait, s.c.Self(), r); !errors.Is(err, node.ErrNodeStopped) {
		return err
	}
	return nil // the node is ending, and so will the supervisor
}

// drop is del_child: a temporary child is removed, any other is marked as stopped.
func (s *supervisor) drop(k *child) {
	if k.dynamic || k.spec.Restart == Temporary {
		s.children.forget(k)
	} else {
		s.children.down(k, stopped)
	}
}

// wait returns the delay of the next restart of k, and counts that restart.
func (k *child) wait(now time.Time) time.Duration {
	b := k.back
	if b == nil {
		return 0
	}
	if !b.since.IsZero() && now.Sub(b.since) >= k.spec.Backoff.Reset {
		b.tries = 0
	}
	b.since = time.Time{}
	b.tries++
	return k.spec.Backoff.wait(b.tries-1, rand.Float64())
}

// restart stops and starts the children that are restarted when k exits.
func (s *supervisor) restart(k *child, scope span) error {
	k.restarts++
	s.tally(counter.Restarts, k.title())
	return s.stopSpan(k, scope, func() error {
		first, last := k, k.next
		if scope != self {
			last = nil
		}
		if scope == all {
			first = s.children.first
		}
		return s.startFrom(first, last, func(failed *child, reason any) error {
			if failed == nil {
				return nil
			}
			s.report("start_error", reason, failed, "restart the child")
			return s.retryLater(failed, failed.wait(time.Now()), false)
		})
	})
}

// stopSpan stops all children of a span except k, the last one first.
func (s *supervisor) stopSpan(k *child, scope span, then func() error) error {
	if scope == self {
		return then()
	}
	until := k
	if scope == all {
		until = nil
	}
	return s.stopFrom(s.children.last, until, then)
}

// startFrom starts children from k to last, exclusive, in order. It stops at the first failure.
func (s *supervisor) startFrom(k, last *child, then func(failed *child, reason any) error) error {
	for k != last {
		if s.parentExit != nil { // otherwise it would never end if this start did not
			return s.end(s.parentExit.Reason)
		}
		next := k.next
		o, waits := s.start(k)
		if waits {
			s.wait.onDone = func(o outcome) error {
				if o.failed {
					return then(k, o.reason)
				}
				s.started(k, o)
				return s.startFrom(next, last, then)
			}
			s.wait.k = k
			return nil
		}
		if o.failed {
			return then(k, o.reason)
		}
		s.started(k, o)
		k = next
	}
	return then(nil, nil)
}

// started records that k has started.
func (s *supervisor) started(k *child, o outcome) {
	if o.ignored {
		s.children.down(k, stopped)
		if k.spec.Restart == Temporary || k.dynamic {
			s.children.forget(k)
		}
		return
	}
	s.children.up(k, o.pid)
	if k.spec.Backoff.Initial > 0 {
		if k.back == nil {
			k.back = new(backoffState)
		}
		k.back.since = time.Now()
	}
	s.progress(k)
}

// start spawns k. If its Init must be awaited, waits is true, and the wait has begun.
func (s *supervisor) start(k *child) (o outcome, waits bool) {
	opt := k.spec.Options
	b, err := k.spec.make(s.c.Node(), &opt, k.args)
	if err == nil {
		opt.Link = true
		if _, ok := b.(*supervisor); ok {
			opt.ShowPeer = true // for Distribution.Access.Allow
		}
		if opt.Via != nil {
			b, opt.Via = opt.Via(b), nil // so that its Init is awaited
		}
		_, opt.Announce = b.(node.Initializer)
		var pid node.PID
		if pid, err = s.c.SpawnOpt(opt, b); err == nil {
			if opt.Announce {
				s.wait = &wait{kind: waitStart, pid: pid}
			}
			return outcome{pid: pid}, opt.Announce
		}
	}
	if errors.Is(err, node.ErrIgnore) {
		return outcome{ignored: true}, false
	}
	return outcome{failed: true, reason: s.startReason(k, opt.Name, err)}, false
}

// startReason returns why a child could not be spawned, in OTP's terms.
func (s *supervisor) startReason(k *child, name node.Atom, err error) any {
	if name != "" && errors.Is(err, node.ErrNameTaken) {
		if pid, ok := s.c.Node().Whereis(name); ok {
			return wire.Tuple{wire.Atom("already_started"), pid}
		}
	}
	if errors.Is(err, rpc.ErrUndef) {
		return undefined(k.spec.mfa(k.args))
	}
	if e, ok := err.(*startPanic); ok {
		return wire.Tuple{aEXIT, e.crash}
	}
	if errors.Is(err, node.ErrTooMany) {
		return raised("system_limit", k.spec.mfa(k.args))
	}
	return sysmsg.Reason(err)
}

// undefined returns the reason for a child whose {M, F, Args} does not exist, or is not allowed for the caller.
func undefined(mfa wire.Tuple) any { return raised("undef", mfa) }

// raised returns the reason for a child whose {M, F, Args} has raised an error.
func raised(reason wire.Atom, mfa wire.Tuple) any {
	return wire.Tuple{aEXIT, wire.Tuple{reason, wire.List{append(mfa, wire.List{})}}}
}

// startPanic is the error for a panic in Start.
type startPanic struct{ crash *node.Crash }

func (e *startPanic) Error() string { return "supervisor: Start panicked: " + e.crash.Error() }

// make makes the behaviour of a new process of k, and puts its name into o.
func (k *Child) make(n *node.Node, o *node.Options, args []any) (b node.Actor, err error) {
	returned := false
	defer func() {
		if !returned {
			err = &startPanic{node.Panicked(recover())}
		}
	}()
	if k.NameOf != nil {
		o.Name = k.NameOf(args...)
	}
	if k.Start != nil {
		b, err = k.Start(args...)
	} else {
		all := k.Named.Args
		if len(args) > 0 {
			all = append(append([]any(nil), all...), args...)
		}
		b, err = rpc.NewActor(n, k.Named.Module, k.Named.Function, all)
	}
	returned = true
	if err == nil && b == nil {
		err = fmt.Errorf("supervisor: Start of child %v returned neither a behaviour nor an error", k.ID)
	}
	return b, err
}

package supervisor

import (
	"errors"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/node"
)

// stopFrom stops children from k backwards to until, exclusive. Temporary ones are removed, because they are never
// restarted.
func (s *supervisor) stopFrom(k, until *child, then func() error) error {
	for k != until {
		prev := k.prev
		if k.phase == running {
			return s.stop(k, func() error {
				s.drop(k)
				return s.stopFrom(prev, until, then)
			})
		}
		s.drop(k)
		k = prev
	}
	return then()
}

// stop makes a running child exit, according to its Shutdown, and waits for it with a monitor, because a child that has
// unlinked itself sends no exit signal.
func (s *supervisor) stop(k *child, then func() error) error {
	w := &wait{kind: waitStop, k: k, pid: k.pid}
	w.ref = s.c.Monitor(k.pid)
	w.onDone = func(o outcome) error {
		if !s.expected(k.spec, o.reason) {
			s.report("shutdown_error", o.reason, k, "none: it was to stop")
		}
		return then()
	}
	s.wait = w
	s.signal(k)
	return s.allow(w, k.spec.Shutdown)
}

// signal sends a child its exit signal.
func (s *supervisor) signal(k *child) {
	if k.spec.Shutdown == BrutalKill {
		s.c.Exit(k.pid, node.Kill)
	} else {
		s.c.Exit(k.pid, node.Shutdown)
	}
}

// allow starts the shutdown timer of the children that w waits for.
func (s *supervisor) allow(w *wait, d time.Duration) error {
	if d != BrutalKill && d != node.Infinity {
		t, err := s.c.SendAfter(d, s.c.Self(), outOfTime{w, d})
		if errors.Is(err, node.ErrNodeStopped) {
			return nil // the node is ending, and gives all processes its StopTimeout
		}
		if err != nil {
			return err
		}
		w.timers = append(w.timers, t)
	}
	return nil
}

// waitTimedOut kills the children with a Shutdown that w has waited for.
func (s *supervisor) waitTimedOut(w *wait, shutdown time.Duration) {
	if w.kind == waitStop {
		s.c.Exit(w.pid, node.Kill)
		return
	}
	for pid, k := range s.children.byPID {
		if k.spec.Shutdown == shutdown {
			s.c.Exit(pid, node.Kill)
		}
	}
}

// expected reports whether reason is that of a child that was told to exit, by the supervisor or by Node.Stop. Any other
// reason is reported.
func (s *supervisor) expected(k *Child, reason any) bool {
	if (reason == node.Shutdown || reason == node.NoProc) && s.nodeStops() {
		return true
	}
	if k.Shutdown == BrutalKill && reason == node.Killed || k.Shutdown != BrutalKill && reason == node.Shutdown {
		return true
	}
	return k.Restart != Permanent && calls.IsClean(reason)
}

// end stops all children and then the supervisor.
func (s *supervisor) end(reason any) error {
	if s.suspended() {
		s.c.Unbecome() // ending takes more than this message
	}
	s.ending = true
	then := func() error { return node.ExitWith(reason) }
	if s.simple() || s.dynamic != nil {
		return s.stopDynamic(then)
	}
	return s.stopFrom(s.children.last, nil, then)
}

// stopDynamic stops all children of SimpleOneForOne, or of a Dynamic, at once, because there may be many. Those with the
// same Shutdown have a common timeout.
func (s *supervisor) stopDynamic(then func() error) error {
	w := &wait{kind: waitAll, onDone: func(outcome) error { return then() }}
	if len(s.children.byPID) == 0 {
		return then()
	}
	s.wait = w
	times := make(map[time.Duration]bool)
	for k := range s.children.backward() {
		if k.phase != running {
			continue
		}
		s.signal(k)
		times[k.spec.Shutdown] = true
	}
	// Children that do not trap exits are dead now, and their exit signals will arrive before this message:
	if err := s.c.Send(s.c.Self(), sweepDone{w}); err != nil {
		return err
	}
	for d := range times {
		if err := s.allow(w, d); err != nil {
			return err
		}
	}
	return nil
}

// monitorRemaining monitors the dynamic children whose exit signals have not arrived, because they may never arrive.
func (s *supervisor) monitorRemaining() {
	for pid := range s.children.byPID {
		s.c.Monitor(pid)
	}
}

// dynamicExited records the exit of a dynamic child while all are being stopped.
func (s *supervisor) dynamicExited(pid node.PID, reason any) error {
	k := s.children.byPID[pid]
	if k == nil {
		return nil
	}
	if !s.expected(k.spec, reason) {
		s.report("shutdown_error", reason, k, "none: it was to stop")
	}
	s.children.forget(k)
	if len(s.children.byPID) > 0 {
		return nil
	}
	return s.finishWait(outcome{})
}

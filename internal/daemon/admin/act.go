package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Commands that change something.

func (q *request) send() (any, error) {
	pid, err := q.target(0)
	if err != nil {
		return nil, err
	}
	if err := q.rejectSelf(pid); err != nil {
		return nil, err
	}
	return pid, q.worker.Send(pid, q.args[1])
}

// rejectSelf refuses the service itself as a target: a request that the service sent to itself would run with its own
// rights.
func (q *request) rejectSelf(pid node.PID) error {
	if own, ok := q.n.Whereis(Name); ok && own == pid {
		return fmt.Errorf("%w: %s to %s itself: use the request of the service", ErrBadRequest, q.command, Name)
	}
	return nil
}

// call calls a process on behalf of the operator, like gen_server:call.
func (q *request) call() (any, error) {
	pid, err := q.target(0)
	if err != nil {
		return nil, err
	}
	if err := q.rejectSelf(pid); err != nil {
		return nil, err
	}
	ms, ok := wire.AsInt(q.args[2])
	if !ok || ms < 0 || ms > maxCall.Milliseconds() {
		return nil, fmt.Errorf("%w: call: %s is not a timeout: want 0 to %d ms", ErrBadRequest, brief(q.args[2]),
			maxCall.Milliseconds())
	}
	ctx, cancel := context.WithTimeoutCause(q.worker.Context(), time.Duration(ms)*time.Millisecond, node.ErrTimeout)
	defer cancel()
	v, err := otp.Call(ctx, q.n, pid, q.args[1])
	var exited *node.ExitError
	switch {
	case q.worker.Context().Err() != nil:
		return nil, errEnded
	case errors.As(err, &exited):
		return nil, &exitError{pid, exited.Reason}
	case err != nil:
		return nil, fmt.Errorf("call of %v: %w", pid, err)
	}
	return v, nil
}

// errEnded is the answer if a worker is killed.
var errEnded = errors.New("admin: the process that worked on the request was killed")

// maxCall bounds the duration of a call.
const maxCall = time.Hour

func (q *request) spawn() (any, error) {
	module, err := q.name(0, "module")
	if err != nil {
		return nil, err
	}
	function, err := q.name(1, "function")
	if err != nil {
		return nil, err
	}
	args, ok := wire.AsList(q.args[2])
	if !ok {
		return nil, fmt.Errorf("%w: spawn: %s is not a list of arguments", ErrBadRequest, brief(q.args[2]))
	}
	o := node.Options{For: q.from.Inside(process.Key{}).MadeBy()}
	if len(q.args) == 4 {
		if o.Name, err = q.name(3, "name"); err != nil {
			return nil, err
		}
	}
	if e := (wire.Export{Module: module, Function: function, Arity: len(args)}); !q.from.Inside(process.Key{}).Allows(e) {
		return nil, fmt.Errorf("%w for %s: %v", rpc.ErrUndef, cmp.Or(q.peer, "an unknown node"), e)
	}
	b, err := rpc.NewActor(q.n, module, function, args)
	if err != nil {
		return nil, err
	}
	return node.SpawnWait(q.worker.Context(), q.n, o, b)
}

// exit sends an exit signal, and waits for the process to exit if requested.
func (q *request) exit() (any, error) {
	pid, err := q.target(0)
	if err != nil || len(q.args) == 2 {
		if err == nil {
			q.worker.Exit(pid, q.args[1])
		}
		return pid, err
	}
	ms, ok := wire.AsInt(q.args[2])
	if !ok || ms < 0 || ms > maxCall.Milliseconds() {
		return nil, fmt.Errorf("%w: exit: %s is not a timeout: want 0 to %d ms", ErrBadRequest, brief(q.args[2]),
			maxCall.Milliseconds())
	}
	ref := q.worker.Monitor(pid)
	q.worker.Exit(pid, q.args[1])
	msg, err := q.worker.ReceiveWithin(time.Duration(ms)*time.Millisecond, func(m any) bool {
		d, ok := m.(node.Down)
		return ok && d.Ref == ref
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %v did not exit within %d ms: it may trap exits", err, pid, ms)
	}
	return wire.Tuple{pid, msg.(node.Down).Reason}, nil
}

func (q *request) register() (any, error) {
	name, err := q.name(0, "name")
	if err != nil {
		return nil, err
	}
	pid, err := q.target(1)
	if err != nil {
		return nil, err
	}
	return pid, q.n.Inside(process.Key{}).RegisterFor(q.from.Inside(process.Key{}).MadeBy(), name, pid)
}

func (q *request) unregister() (any, error) {
	name, err := q.name(0, "name")
	if err != nil {
		return nil, err
	}
	pid, err := named(q.n, name)
	if err != nil {
		return nil, err
	}
	return pid, q.n.Unregister(name)
}

func (q *request) connect() (any, error) {
	at, err := q.name(0, "node")
	if err != nil {
		return nil, err
	}
	return wire.AtomTrue, q.n.Connect(q.worker.Context(), at)
}

func (q *request) disconnect() (any, error) {
	at, err := q.name(0, "node")
	if err != nil {
		return nil, err
	}
	return q.n.Disconnect(at), nil
}

// stop answers first, since the connection may be lost afterwards.
func (q *request) stop() (any, error) {
	if q.s.cfg.Stop == nil {
		return nil, fmt.Errorf("%w: stop: Config.Stop is not set", ErrNotSupported)
	}
	q.answer(wire.AtomTrue, nil)
	q.s.cfg.Stop()
	return nil, errNoReplyYet
}

func (q *request) logLevel() (any, error) {
	v := q.s.cfg.Level
	if v == nil {
		return nil, fmt.Errorf("%w: log_level: Config.Level is not set", ErrNotSupported)
	}
	was := levelAtom(v.Level())
	if len(q.args) == 1 {
		a, err := q.name(0, "log level")
		if err != nil {
			return nil, err
		}
		l, err := levelOf(a)
		if err != nil {
			return nil, err
		}
		v.Set(l)
	}
	return was, nil
}

// drain is the progress of draining the node.
//
//	not begun ──first request──► under way ──nil──► done
//	    ▲                            │
//	    └───────────error────────────┘
type drain struct {
	mu      sync.Mutex
	begun   bool
	done    bool
	waiters []*request
}

func (d *drain) isActive() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun
}

func (q *request) drain() (any, error) {
	d := &q.s.drain
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case q.s.cfg.Drain == nil:
		return nil, fmt.Errorf("%w: drain: Config.Drain is not set", ErrNotSupported)
	case d.done:
		return wire.AtomTrue, nil
	case len(d.waiters) >= q.s.cfg.Limit:
		return nil, fmt.Errorf("%w: %d requests already wait until the node is drained", ErrBusy, len(d.waiters))
	case !d.begun:
		_, err := q.n.SpawnOpt(node.Options{Label: string(Name + ": drain")}, node.ProcessFunc(q.s.draining))
		if err != nil {
			return nil, err
		}
	}
	d.begun = true
	d.waiters = append(d.waiters, q)
	return nil, errNoReplyYet
}

// draining is the process that drains the node. The first request starts it; it ends when Config.Drain returns, whose
// context ends with the node.
func (s *service) draining(p *node.Process) (err error) {
	d, ended := &s.drain, false
	defer func() {
		if !ended {
			err = errors.New("admin: Config.Drain panicked, or its process was killed")
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.begun, d.done = err == nil, err == nil
		for _, q := range d.waiters {
			q.answer(wire.AtomTrue, err)
		}
		d.waiters = nil
	}()
	err = s.cfg.Drain(p.Context())
	ended = true
	return err
}

// exitError means that a process exited instead of replying.
type exitError struct {
	pid    node.PID
	reason any
}

func (e *exitError) Error() string {
	return fmt.Sprintf("%v exited: %s", e.pid, brief(e.reason))
}

// timeoutContext returns a context for a request to a supervisor.
func (q *request) timeoutContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(q.worker.Context(), q.s.cfg.Timeout)
}

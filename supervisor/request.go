package supervisor

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The requests to a supervisor, from Go or, read by parse, from Erlang.
type (
	startChild struct {
		child   Child `isolation:"share"`
		dynamic bool  // it has no ID, and is removed when it stops
	}
	startDynamic   struct{ args []any }
	terminateChild struct{ id any }
	restartChild   struct{ id any }
	deleteChild    struct{ id any }
	getChildSpec   struct{ id any }
	whichChildren  struct{}
	countChildren  struct{}
)

// ChildInfo is an entry of WhichChildren.
type ChildInfo struct {
	ID         any // nil for the children of SimpleOneForOne, and those of Elixir's DynamicSupervisor.start_child
	PID        node.PID
	Restarting bool // it waits for its restart; PID is zero
	Type       ChildType
	Modules    []node.Atom
	Restarts   int // since the child was added
}

// Counts is the result of CountChildren.
type Counts struct {
	Specs       int // children, running or not; 1 for SimpleOneForOne
	Active      int // running children
	Supervisors int
	Workers     int
}

// handleRequest answers a call.
func (s *supervisor) handleRequest(r node.Request[any], isTerm bool) error {
	req, done := r.Body, answer{s: s, to: r.From, isTerm: isTerm}
	switch k, pass, err := s.dynamic.read(req); {
	case err != nil:
		return done.fail(err)
	case k != nil:
		if pass {
			done.pass = &r
		}
		return s.addRead(*k, r, done)
	}
	if isTerm {
		var err error
		if req, err = s.parse(r.Body); err != nil {
			return done.fail(err)
		}
	}
	switch req := req.(type) {
	case startChild:
		f := req.child.Named
		e := wire.Export{Module: f.Module, Function: f.Function, Arity: len(f.Args)}
		if isTerm && !r.From.Inside(process.Key{}).Allows(e) {
			return done.fail(&StartError{ID: req.child.ID, Reason: undefined(req.child.mfa(nil)), child: &req.child})
		}
		if isTerm {
			req.child.Options.For = r.From.Inside(process.Key{}).MadeBy()
		}
		return s.add(req.child, req.dynamic, done)
	case startDynamic:
		return s.addDynamic(r.From.Inside(process.Key{}).MadeBy(), req.args, done)
	case terminateChild:
		if s.keeps(req.id, r.From) {
			return done.fail(ErrNotAllowed)
		}
		return s.terminate(req.id, done)
	case restartChild:
		return s.restartStopped(req.id, done)
	case deleteChild:
		if s.keeps(req.id, r.From) {
			return done.fail(ErrNotAllowed)
		}
		return s.delete(req.id, done)
	case getChildSpec:
		if k := s.find(req.id); k != nil {
			return done.ok(*k.spec)
		}
		return done.fail(ErrNotFound)
	case whichChildren:
		return done.ok(s.which())
	case countChildren:
		return done.ok(s.count())
	}
	return done.fail(&unknownRequest{r.Body})
}

// keeps reports whether by may not end the child: only operators may end children that the node itself has started.
func (s *supervisor) keeps(id any, by node.From) bool {
	asker := s.c.Node().Inside(process.Key{}).AskerOf(by)
	if asker.Operates() {
		return false
	}
	k := s.find(id)
	switch {
	case k == nil:
		return false
	case k.phase == running:
		return asker.Protected(k.pid)
	}
	return k.spec.Options.For == ""
}

// unknownRequest is the error for an unknown request.
type unknownRequest struct{ request any }

func (u *unknownRequest) Error() string {
	return fmt.Sprintf("supervisor: unknown request of type %T", u.request)
}

func (u *unknownRequest) Unwrap() error { return node.ErrUnhandled }

// term returns the reason that OTP's callers get.
func (u *unknownRequest) term() any { return wire.Tuple{wire.Atom("unhandled_request"), u.request} }

// find is find_child: by id, or by pid if the child is dynamic.
func (s *supervisor) find(id any) *child {
	pid, byPID := id.(node.PID)
	if k := s.children.byPID[pid]; byPID && k != nil && k.dynamic {
		return k
	}
	if byPID && s.simple() {
		for k := s.children.first; k != nil && s.children.n > len(s.children.byPID); k = k.next {
			if k.phase == restarting && k.pid == pid {
				return k
			}
		}
		if s.c.Node().IsAlive(pid) {
			return nil
		}
		return &child{spec: s.template()} // as in OTP: there may have been such a child
	}
	if s.simple() {
		if k := s.template(); wire.Equal(k.ID, id) {
			return &child{spec: k}
		}
		return nil
	}
	return s.children.get(id)
}

// add is start_child; dynamic means a child without an ID.
func (s *supervisor) add(spec Child, dynamic bool, done answer) error {
	if s.simple() {
		return done.fail(ErrSimple)
	}
	if err := spec.complete(s.spec.AutoShutdown); err != nil {
		return done.fail(spec.wrong(err, 0))
	}
	if k := s.children.get(spec.ID); k != nil && !dynamic {
		if k.phase == running {
			return done.fail(&AlreadyStartedError{k.pid})
		}
		return done.fail(ErrAlreadyPresent)
	}
	k := &child{spec: &spec, dynamic: dynamic}
	return s.begin(k, done, func(o outcome) {
		if !o.ignored || spec.Restart != Temporary && !dynamic {
			s.children.save(k)
		}
		if !o.ignored {
			s.started(k, o)
		}
	})
}

// addDynamic is start_child of SimpleOneForOne. peer is the requesting node, or "" for this one.
func (s *supervisor) addDynamic(peer node.Atom, args []any, done answer) error {
	if !s.simple() {
		return done.fail(ErrNotSimple)
	}
	k := &child{spec: s.template().startedFor(peer), args: args, dynamic: true}
	return s.begin(k, done, func(o outcome) {
		if k.spec.Restart == Temporary {
			k.spec, k.args = s.template(), nil // no longer needed
		}
		if !o.ignored {
			s.children.save(k)
			s.started(k, o)
		}
	})
}

// begin starts k for a caller. It calls up with the outcome, and then answers the caller.
func (s *supervisor) begin(k *child, done answer, up func(o outcome)) error {
	then := func(o outcome) error {
		switch {
		case o.failed:
			return done.fail(&StartError{ID: k.id(), Reason: o.reason, child: k.spec, dynamic: k.dynamic})
		case o.ignored:
			up(o)
			return done.ok(node.PID{})
		}
		up(o)
		return done.ok(k.pid)
	}
	if s.parentExit != nil {
		return s.end(s.parentExit.Reason)
	}
	o, waits := s.start(k)
	if waits {
		s.wait.k, s.wait.onDone = k, then
		return nil
	}
	return then(o)
}

// terminate is terminate_child.
func (s *supervisor) terminate(id any, done answer) error {
	if _, byPID := id.(node.PID); s.simple() && !byPID {
		return done.fail(ErrSimple)
	}
	k := s.find(id)
	if k == nil {
		return done.fail(ErrNotFound)
	}
	then := func() error {
		if k.prev != nil || k.next != nil || s.children.first == k {
			s.drop(k)
		}
		return done.ok(nil)
	}
	if k.phase == running {
		return s.stop(k, then)
	}
	return then()
}

// restartStopped is restart_child.
func (s *supervisor) restartStopped(id any, done answer) error {
	k, err := s.idle(id)
	if err != nil {
		return done.fail(err)
	}
	return s.begin(k, done, func(o outcome) {
		if !o.ignored {
			s.started(k, o)
		}
	})
}

// delete is delete_child.
func (s *supervisor) delete(id any, done answer) error {
	k, err := s.idle(id)
	if err != nil {
		return done.fail(err)
	}
	s.children.forget(k)
	return done.ok(nil)
}

// idle finds a stopped child.
func (s *supervisor) idle(id any) (*child, error) {
	if s.simple() {
		return nil, ErrSimple
	}
	switch k := s.children.get(id); {
	case k == nil:
		return nil, ErrNotFound
	case k.phase == running:
		return nil, ErrRunning
	case k.phase == restarting:
		return nil, ErrRestarting
	default:
		return k, nil
	}
}

// which lists the children, the last started first, as in OTP.
func (s *supervisor) which() []ChildInfo {
	l := make([]ChildInfo, 0, s.children.n)
	for k := range s.children.backward() {
		i := ChildInfo{Type: k.spec.Type, Modules: k.spec.modules(), Restarts: int(k.restarts), Restarting: k.phase == restarting}
		if !k.dynamic {
			i.ID = k.id()
		}
		if k.phase == running {
			i.PID = k.pid
		}
		l = append(l, i)
	}
	return l
}

func (s *supervisor) count() Counts {
	if s.simple() {
		c := Counts{Specs: 1, Active: len(s.children.byPID)}
		if s.template().Type == Supervisor {
			c.Supervisors = s.children.n
		} else {
			c.Workers = s.children.n
		}
		return c
	}
	var c Counts
	for k := range s.children.backward() {
		c.Specs++
		if k.phase == running && s.c.Node().IsAlive(k.pid) {
			c.Active++
		}
		if k.spec.Type == Supervisor {
			c.Supervisors++
		} else {
			c.Workers++
		}
	}
	return c
}

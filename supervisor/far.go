package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Requests to and replies of a supervisor on another node: the terms of Erlang's supervisor module, for Go and Erlang
// nodes.

func (r startChild) term() any { return wire.Tuple{aStartChild, r.child.request()} }

func (r startDynamic) term() any { return wire.Tuple{aStartChild, wire.List(r.args)} }

func (r terminateChild) term() any { return wire.Tuple{aTerminateChild, r.id} }

func (r restartChild) term() any { return wire.Tuple{aRestartChild, r.id} }

func (r deleteChild) term() any { return wire.Tuple{aDeleteChild, r.id} }

func (r getChildSpec) term() any { return wire.Tuple{aGetChildSpec, r.id} }

func (whichChildren) term() any { return aWhichChildren }

func (countChildren) term() any { return aCountChildren }

// request returns the argument of supervisor:start_child: a map without default values.
func (k *Child) request() wire.Map {
	m := wire.NewMap(aID, k.ID, aStart, k.mfa(nil), aRestart, wire.Atom(cmp.Or(k.Restart, Permanent)),
		aSignificant, wire.Atom(fmt.Sprint(k.Significant)), aType, wire.Atom(cmp.Or(k.Type, Worker)))
	if k.Shutdown != 0 {
		m.Put(aShutdown, shutdownTerm(k.Shutdown))
	}
	if k.Modules != nil {
		m.Put(aModules, moduleTerm(k.Modules))
	}
	return m
}

// travels returns an error if sup is on another node and k contains Go code, which cannot be sent there.
func (k *Child) travels(from node.Caller, sup node.Dest) error {
	if !isFar(from, sup) {
		return nil
	}
	for _, no := range []struct {
		field string
		set   bool
	}{
		{"Start", k.Start != nil}, {"NameOf", k.NameOf != nil}, {"Options", !reflect.ValueOf(k.Options).IsZero()},
		{"Backoff", k.Backoff != Backoff{}},
	} {
		if no.set {
			return fmt.Errorf("supervisor: child %v: %s does not go to a supervisor on another node: use Named, "+
				"which that node exports", wire.Format(k.ID), no.field)
		}
	}
	return nil
}

// isFar reports whether a destination is on another node than the caller.
func isFar(from node.Caller, to node.Dest) bool {
	n, ok := from.(*node.Node)
	if on, is := from.(interface{ Node() *node.Node }); is {
		n, ok = on.Node(), true
	}
	switch to := to.(type) {
	case node.PID:
		return ok && to.Node() != n.Name()
	case node.At:
		return ok && to.Node != n.Name()
	}
	return false
}

// ask calls a supervisor. read converts the reply of one on another node.
func ask[R, Q any](ctx context.Context, from node.Caller, sup node.Dest, req Q, read func(term any) (R, error)) (R, error) {
	v, err := node.Call[any](ctx, from, sup, req)
	if r, ok := v.(R); ok || v == nil || err != nil {
		return r, err
	}
	if t, ok := v.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.AtomError {
		var none R
		return none, refusal(t[1])
	}
	r, err := read(v)
	if err != nil {
		err = fmt.Errorf("supervisor: unknown answer: %s", wire.Format(v))
	}
	return r, err
}

// refusal converts the reason in {error, Reason}.
func refusal(reason any) error {
	for err, w := range words {
		if reason == w {
			return err
		}
	}
	if pid, ok := alreadyStarted(reason); ok {
		return &AlreadyStartedError{pid}
	}
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 {
		if record, ok := t[1].(wire.Tuple); ok && len(record) > 0 && record[0] == aChild {
			return &StartError{Reason: t[0]}
		}
	}
	return &SpecError{Reason: reason}
}

// started is refusal for a child that was started from arguments.
func started(pid node.PID, err error) (node.PID, error) {
	switch e := err.(type) {
	case *SpecError:
		err = &StartError{Reason: e.Reason, dynamic: true}
	case *AlreadyStartedError: // children that are started from arguments have no IDs, so this process has the name
		err = &StartError{Reason: e.term(), dynamic: true}
	}
	return pid, err
}

func readPID(term any) (node.PID, error) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) < 2 || t[0] != wire.AtomOK {
		return node.PID{}, errAnswer
	}
	pid, ok := t[1].(node.PID)
	if !ok && t[1] != wire.AtomUndefined {
		return pid, errAnswer
	}
	return pid, nil
}

func readOK(term any) (none struct{}, err error) {
	if term != wire.AtomOK {
		err = errAnswer
	}
	return none, err
}

func readChild(term any) (Child, error) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != wire.AtomOK {
		return Child{}, errAnswer
	}
	return parseChild(t[1], AllSignificant)
}

func readChildren(term any) ([]ChildInfo, error) {
	l, ok := wire.AsList(term)
	if !ok {
		return nil, errAnswer
	}
	all := make([]ChildInfo, len(l))
	for i, e := range l {
		t, ok := e.(wire.Tuple)
		if !ok || len(t) != 4 {
			return nil, errAnswer
		}
		typ, _ := t[2].(wire.Atom)
		k := ChildInfo{ID: t[0], Restarting: t[1] == aRestarting, Type: ChildType(typ)}
		k.PID, _ = t[1].(node.PID)
		if k.ID == wire.AtomUndefined {
			k.ID = nil
		}
		if t[3] == aDynamic {
			k.Modules = []wire.Atom{aDynamic}
		} else {
			modules, _ := wire.AsList(t[3])
			for _, m := range modules {
				a, _ := m.(wire.Atom)
				k.Modules = append(k.Modules, a)
			}
		}
		all[i] = k
	}
	return all, nil
}

func readCounts(term any) (c Counts, err error) {
	l, ok := wire.AsList(term)
	if !ok {
		return c, errAnswer
	}
	for _, e := range l {
		t, ok := e.(wire.Tuple)
		if !ok || len(t) != 2 {
			return c, errAnswer
		}
		n, ok := wire.AsInt(t[1])
		if !ok {
			return c, errAnswer
		}
		switch t[0] {
		case wire.Atom("specs"):
			c.Specs = int(n)
		case wire.Atom("active"):
			c.Active = int(n)
		case wire.Atom("supervisors"):
			c.Supervisors = int(n)
		case wire.Atom("workers"):
			c.Workers = int(n)
		}
	}
	return c, nil
}

func init() {
	termof.Enter(startChild.term)
	termof.Enter(startDynamic.term)
	termof.Enter(terminateChild.term)
	termof.Enter(restartChild.term)
	termof.Enter(deleteChild.term)
	termof.Enter(getChildSpec.term)
	termof.Enter(whichChildren.term)
	termof.Enter(countChildren.term)
}

package supervisor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The atoms in the messages of Erlang's supervisor module.
const (
	aAlreadyStarted     wire.Atom = "already_started"
	aSupervisorData     wire.Atom = "supervisor_data"
	aFailedToStartChild wire.Atom = "failed_to_start_child"
	aStartSpec          wire.Atom = "start_spec"
	aBadStartSpec       wire.Atom = "bad_start_spec"
	aStrategy           wire.Atom = "strategy"
	aIntensity          wire.Atom = "intensity"
	aPeriod             wire.Atom = "period"
	aAutoShutdown       wire.Atom = "auto_shutdown"
	aNever              wire.Atom = "never"
	aSignificant        wire.Atom = "significant"
	aRestart            wire.Atom = "restart"
	aRestarting         wire.Atom = "restarting"
	aID                 wire.Atom = "id"
	aStart              wire.Atom = "start"
	aShutdown           wire.Atom = "shutdown"
	aType               wire.Atom = "type"
	aModules            wire.Atom = "modules"
	aBrutalKill         wire.Atom = "brutal_kill"
	aInfinity           wire.Atom = "infinity"
	aDynamic            wire.Atom = "dynamic"
	aEXIT               wire.Atom = "EXIT"
	aChild              wire.Atom = "child"
	aStartChild         wire.Atom = "start_child"
	aStartTask          wire.Atom = "start_task"
	aTerminateChild     wire.Atom = "terminate_child"
	aRestartChild       wire.Atom = "restart_child"
	aDeleteChild        wire.Atom = "delete_child"
	aGetChildSpec       wire.Atom = "get_childspec"
	aWhichChildren      wire.Atom = "which_children"
	aCountChildren      wire.Atom = "count_children"
)

// words are the errors that are atoms in Erlang.
var words = map[error]wire.Atom{
	ErrNotFound: "not_found", ErrRunning: "running", ErrRestarting: "restarting",
	ErrAlreadyPresent: "already_present", ErrSimple: "simple_one_for_one", ErrNotSimple: "not_simple_one_for_one",
	ErrNotAllowed: "not_allowed",
}

// answer is the destination of a reply, and its format: Go or Erlang.
type answer struct {
	s      *supervisor
	to     node.From
	isTerm bool
	pass   *node.Request[any] // what the started child answers; nil: the supervisor answers
}

func (a answer) ok(v any) error {
	if pid, ok := v.(node.PID); ok && a.pass != nil {
		a.forward(pid)
		return nil
	}
	if a.isTerm {
		v = term(v)
	}
	a.s.c.Reply(a.to, v)
	return nil
}

func (a answer) fail(err error) error {
	if _, unknown := err.(*unknownRequest); unknown || !a.isTerm {
		a.to.Fail(err)
		return nil
	}
	reason := values.ErrorTerm(err)
	if w, ok := words[err]; ok {
		reason = w
	}
	if d := a.s.dynamic; d != nil && err == d.Full {
		reason = wire.Atom("max_children")
	}
	var failed *StartError
	if errors.As(err, &failed) {
		reason = failed.Reason
		if !failed.dynamic {
			reason = wire.Tuple{failed.Reason, failed.child.record()}
		}
	}
	a.s.c.Reply(a.to, wire.Tuple{wire.AtomError, reason})
	return nil
}

// term returns the value of a reply in Erlang.
func term(v any) any {
	switch v := v.(type) {
	case node.PID:
		if v.IsZero() {
			return wire.Tuple{wire.AtomOK, wire.AtomUndefined}
		}
		return wire.Tuple{wire.AtomOK, v}
	case Child:
		return wire.Tuple{wire.AtomOK, v.term()}
	case []ChildInfo:
		l := make(wire.List, len(v))
		for i, k := range v {
			l[i] = k.term()
		}
		return l
	case Counts:
		return v.term()
	}
	return wire.AtomOK
}

// term returns {Id, Pid | undefined | restarting, Type, Modules}.
func (i ChildInfo) term() any {
	var pid, id any = wire.AtomUndefined, i.ID
	switch {
	case i.Restarting:
		pid = aRestarting
	case !i.PID.IsZero():
		pid = i.PID
	}
	if id == nil {
		id = wire.AtomUndefined
	}
	return wire.Tuple{id, pid, wire.Atom(i.Type), moduleTerm(i.Modules)}
}

// term returns [{specs, N}, {active, N}, {supervisors, N}, {workers, N}].
func (c Counts) term() any {
	return wire.List{
		wire.Tuple{wire.Atom("specs"), c.Specs}, wire.Tuple{wire.Atom("active"), c.Active},
		wire.Tuple{wire.Atom("supervisors"), c.Supervisors}, wire.Tuple{wire.Atom("workers"), c.Workers},
	}
}

// term returns the map of supervisor:get_childspec.
func (k Child) term() any {
	return wire.NewMap(aID, k.ID, aStart, k.mfa(nil), aRestart, wire.Atom(cmp.Or(k.Restart, Permanent)),
		aSignificant, wire.Atom(fmt.Sprint(k.Significant)), aShutdown, shutdownTerm(k.Shutdown),
		aType, wire.Atom(cmp.Or(k.Type, Worker)), aModules, moduleTerm(k.modules()))
}

func specTerms(children []Child) wire.List {
	l := make(wire.List, len(children))
	for i, k := range children {
		l[i] = k.term()
	}
	return l
}

// record returns OTP's record child, as in {error, {Reason, Child}}.
func (k *Child) record() any {
	return wire.Tuple{aChild, wire.AtomUndefined, k.ID, k.mfa(nil), wire.Atom(cmp.Or(k.Restart, Permanent)),
		wire.Atom(fmt.Sprint(k.Significant)), shutdownTerm(k.Shutdown), wire.Atom(cmp.Or(k.Type, Worker)), moduleTerm(k.modules())}
}

func shutdownTerm(d time.Duration) any {
	switch d {
	case BrutalKill:
		return aBrutalKill
	case node.Infinity:
		return aInfinity
	}
	return int(d / time.Millisecond)
}

func moduleTerm(modules []wire.Atom) any {
	if len(modules) == 1 && modules[0] == aDynamic {
		return aDynamic
	}
	l := make(wire.List, len(modules))
	for i, m := range modules {
		l[i] = m
	}
	return l
}

// mfa returns {Module, Function, Args} of the child: for a Start in Go, the package and the name of the function.
func (k *Child) mfa(args []any) wire.Tuple {
	if k.Start == nil {
		return wire.Tuple{k.Named.Module, k.Named.Function, slices.Concat(wire.List{}, k.Named.Args, args)}
	}
	name := runtime.FuncForPC(reflect.ValueOf(k.Start).Pointer()).Name()
	dot := strings.LastIndexByte(name[:strings.LastIndexByte(name, '/')+1], '/') + 1
	pkg, function, _ := strings.Cut(name[dot:], ".")
	return wire.Tuple{wire.Atom(name[:dot] + pkg), wire.Atom(function), wire.List(args)}
}

func (k *Child) modules() []wire.Atom {
	if k.Modules != nil {
		return k.Modules
	}
	return []wire.Atom{k.mfa(nil)[0].(wire.Atom)}
}

func alreadyStarted(reason any) (node.PID, bool) {
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 && t[0] == aAlreadyStarted {
		pid, ok := t[1].(node.PID)
		return pid, ok
	}
	return node.PID{}, false
}

// parse reads a request of Erlang's supervisor module.
func (s *supervisor) parse(req any) (any, error) {
	switch req {
	case aWhichChildren:
		return whichChildren{}, nil
	case aCountChildren:
		return countChildren{}, nil
	}
	t, ok := req.(wire.Tuple)
	if ok && len(t) == 2 {
		switch t[0] {
		case aStartChild:
			if s.simple() {
				args, ok := wire.AsList(t[1])
				if !ok {
					return nil, bad("badarg", t[1])
				}
				return startDynamic{args}, nil
			}
			if k, ok := t[1].(wire.Tuple); ok && len(k) == 5 { // DynamicSupervisor.start_child of Elixir: its children have no ID
				spec := slices.Concat(wire.Tuple{wire.AtomUndefined}, k)
				child, err := parseChild(spec, s.spec.AutoShutdown)
				return startChild{child: child, dynamic: true}, err
			}
			k, err := parseChild(t[1], s.spec.AutoShutdown)
			return startChild{child: k}, err
		case aTerminateChild:
			return terminateChild{t[1]}, nil
		case aRestartChild:
			return restartChild{t[1]}, nil
		case aDeleteChild:
			return deleteChild{t[1]}, nil
		case aGetChildSpec:
			return getChildSpec{t[1]}, nil
		}
	}
	return nil, &unknownRequest{req}
}

// parseSpec reads the result of init/1 of an Erlang supervisor, {ok, {Flags, Children}}. The error is a [*SpecError] with
// the reason for which OTP's supervisor would not start.
func parseSpec(flags, children any) (Spec, error) {
	s, err := parseFlags(flags)
	if err != nil {
		return s, &SpecError{Reason: wire.Tuple{aSupervisorData, values.ErrorTerm(err)}}
	}
	l, ok := wire.AsList(children)
	if !ok || s.Strategy == SimpleOneForOne && len(l) != 1 {
		return s, bad(aBadStartSpec, children)
	}
	var seen wire.Map
	for _, t := range l {
		k, err := parseChild(t, s.AutoShutdown)
		if _, twice := seen.Get(k.ID); err == nil && twice {
			err = duplicate(k.ID)
		}
		if err != nil {
			return s, &SpecError{Reason: wire.Tuple{aStartSpec, values.ErrorTerm(err)}}
		}
		seen.Put(k.ID, true)
		s.Children = append(s.Children, k)
	}
	return s, nil
}

// parseFlags reads sup_flags(): a map, or the old tuple of three.
func parseFlags(t any) (Spec, error) {
	var s Spec
	m, isMap := t.(wire.Map)
	if old, ok := t.(wire.Tuple); ok && len(old) == 3 {
		m = wire.NewMap(aStrategy, old[0], aIntensity, old[1], aPeriod, old[2])
	} else if !isMap {
		return s, bad("invalid_type", t)
	}
	strategy := field(m, aStrategy, wire.Atom(OneForOne))
	var ok bool
	if s.Strategy, ok = read(strategy, strategies); !ok {
		return s, bad("invalid_strategy", strategy)
	}
	intensity := field(m, aIntensity, defaultIntensity)
	n, ok := wire.AsInt(intensity)
	if !ok || n < 0 {
		return s, bad("invalid_intensity", intensity)
	}
	if s.Intensity = int(n); n == 0 {
		s.Intensity = NoRestarts
	}
	period := field(m, aPeriod, seconds(defaultPeriod))
	if n, ok = wire.AsInt(period); !ok || n <= 0 {
		return s, bad("invalid_period", period)
	}
	s.Period = time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
	auto := field(m, aAutoShutdown, aNever)
	if s.AutoShutdown, ok = read(auto, autoShutdowns); !ok {
		return s, bad("invalid_auto_shutdown", auto)
	}
	return s, nil
}

func field(m wire.Map, name wire.Atom, otherwise any) any {
	if v, ok := m.Get(name); ok {
		return v
	}
	return otherwise
}

// parseChild reads an Erlang child specification: a map, or the old tuple of six. The error is a [*SpecError] with OTP's
// reason. It makes all checks, in OTP's order, except whether the ID is taken.
func parseChild(t any, auto AutoShutdown) (Child, error) {
	var k Child
	m, isMap := t.(wire.Map)
	if old, ok := t.(wire.Tuple); ok && len(old) == 6 {
		m = wire.NewMap(aID, old[0], aStart, old[1], aRestart, old[2], aShutdown, old[3], aType, old[4], aModules, old[5])
	} else if !isMap {
		return k, bad("invalid_child_spec", t)
	}
	id, ok := m.Get(aID)
	if !ok {
		return k, &SpecError{Reason: wire.Atom("missing_id")}
	}
	start, ok := m.Get(aStart)
	if !ok {
		return k, &SpecError{Reason: wire.Atom("missing_start")}
	}
	if k.ID = id; id == nil {
		k.ID = wire.List{} // nil means no ID in Go, but is an ordinary ID in Erlang
	}
	mfa, ok := start.(wire.Tuple)
	if !ok || len(mfa) != 3 {
		return k, bad("invalid_mfa", start)
	}
	module, ok1 := mfa[0].(wire.Atom)
	function, ok2 := mfa[1].(wire.Atom)
	args, ok3 := wire.AsList(mfa[2])
	if !ok1 || !ok2 || !ok3 {
		return k, bad("invalid_mfa", start)
	}
	k.Named = Named{module, function, args}
	restart := field(m, aRestart, wire.Atom(Permanent))
	if k.Restart, ok = read(restart, restarts); !ok {
		return k, bad("invalid_restart_type", restart)
	}
	significant := field(m, aSignificant, wire.AtomFalse)
	if k.Significant, ok = wire.AsBool(significant); !ok {
		return k, bad("invalid_significant", significant)
	}
	if err := k.combines(auto); err != nil {
		return k, err
	}
	typ := field(m, aType, wire.Atom(Worker))
	if k.Type, ok = read(typ, types); !ok {
		return k, bad("invalid_child_type", typ)
	}
	if shutdown, ok := m.Get(aShutdown); ok {
		if k.Shutdown, ok = parseShutdown(shutdown); !ok {
			return k, bad("invalid_shutdown", shutdown)
		}
	}
	modules, ok := m.Get(aModules)
	if !ok {
		return k, nil
	}
	if modules == aDynamic {
		k.Modules = []wire.Atom{aDynamic}
		return k, nil
	}
	l, ok := wire.AsList(modules)
	if !ok {
		return k, bad("invalid_modules", modules)
	}
	k.Modules = []wire.Atom{}
	for _, m := range l {
		a, ok := m.(wire.Atom)
		if !ok {
			return k, bad("invalid_module", m)
		}
		k.Modules = append(k.Modules, a)
	}
	return k, nil
}

// read reads one of the words all.
func read[T ~string](t any, all []T) (word T, ok bool) {
	a, _ := t.(wire.Atom)
	return T(a), slices.Contains(all, T(a))
}

func parseShutdown(t any) (time.Duration, bool) {
	switch t {
	case aBrutalKill:
		return BrutalKill, true
	case aInfinity:
		return node.Infinity, true
	}
	ms, ok := wire.AsInt(t)
	if !ok || ms < 0 || ms > int64(node.Infinity/time.Millisecond)-1 {
		return 0, false
	}
	return max(1, time.Duration(ms)*time.Millisecond), true // 0 would be the default
}

func init() {
	termof.Enter(ChildInfo.term)
	termof.Enter(Counts.term)
	termof.Enter(Child.term)
	values.Enter(ErrNotFound, ErrRunning, ErrRestarting, ErrAlreadyPresent, ErrSimple, ErrNotSimple, ErrNotAllowed)
	node.Know(process.Key{}, node.TypeOf[ChildInfo]("$supervisor.ChildInfo"), node.TypeOf[Counts]("$supervisor.Counts"))
}

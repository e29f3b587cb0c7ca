package supervisor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Strategy defines which children are restarted after a child has exited.
type Strategy string

const (
	OneForOne       Strategy = "one_for_one"        // only the child
	OneForAll       Strategy = "one_for_all"        // all children
	RestForOne      Strategy = "rest_for_one"       // the child and those started after it
	SimpleOneForOne Strategy = "simple_one_for_one" // children of one spec, started on request; only the child
)

var strategies = []Strategy{OneForOne, OneForAll, RestForOne, SimpleOneForOne}

// Restart defines after which exits a child is restarted.
type Restart string

const (
	Permanent Restart = "permanent" // always
	Transient Restart = "transient" // unless it exited with normal, shutdown or {shutdown, _}
	Temporary Restart = "temporary" // never
)

var restarts = []Restart{Permanent, Transient, Temporary}

// ChildType is the kind of a child: Worker or Supervisor.
type ChildType string

const (
	Worker     ChildType = "worker"
	Supervisor ChildType = "supervisor"
)

var types = []ChildType{Worker, Supervisor}

// AutoShutdown defines whether a supervisor ends with its significant children.
type AutoShutdown string

const (
	Never          AutoShutdown = "never"
	AnySignificant AutoShutdown = "any_significant" // when one of them has exited without being stopped
	AllSignificant AutoShutdown = "all_significant" // when the last of them has
)

var autoShutdowns = []AutoShutdown{Never, AnySignificant, AllSignificant}

// known returns word, or the first of all if word is empty. It returns false if word is not in all.
func known[T ~string](word T, all []T) (T, bool) {
	word = cmp.Or(word, all[0])
	return word, slices.Contains(all, word)
}

// BrutalKill, as [Child].Shutdown, kills a child at once. With any other time the child gets the exit signal shutdown, and
// is killed after that time; with [node.Infinity] it is never killed.
const BrutalKill time.Duration = -1

// NoRestarts is the [Spec].Intensity that allows no restarts.
const NoRestarts = -1

// Defaults, as in OTP.
const (
	defaultIntensity = 1
	defaultPeriod    = 5 * time.Second
	defaultShutdown  = 5 * time.Second
)

// Spec describes a supervisor: OTP's sup_flags() and its initial children. The zero value is a supervisor without children.
type Spec struct {
	Strategy Strategy // default: OneForOne
	// Intensity is the number of restarts allowed within Period. One more ends the supervisor; if it is at the top of a
	// daemon's tree, it ends the daemon. Default: 1 in 5 s, as in OTP. That is low: two requests that make a server panic
	// within 5 s end its supervisor. Most trees need more, such as 10 in a minute. For no restarts use NoRestarts.
	Intensity int
	Period    time.Duration
	// AutoShutdown ends the supervisor with its significant children. Default:
	// Never.
	AutoShutdown AutoShutdown
	// Children are started in this order and stopped in reverse order. With SimpleOneForOne there is exactly one, the
	// template for dynamic children.
	Children []Child
}

// Child describes a child: OTP's child_spec().
type Child struct {
	// ID distinguishes the child from others of its supervisor: any term.
	ID any
	// Start makes the behaviour of a new process, also at each restart. args are empty except for the children of
	// SimpleOneForOne, which get the arguments of StartDynamic. An error is a failure to start; [node.ErrIgnore] means that
	// the child need not run. Start must not block: do slow work in the behaviour's Init.
	Start func(args ...any) (node.Actor, error) `isolation:"share"`
	// NameOf returns the registered name of a child started with args, or "" for none; it is called again at each restart.
	// If nil, the name is Options.Name. With NameOf each child of a SimpleOneForOne supervisor can have its own name.
	NameOf func(args ...any) node.Atom `isolation:"share"`
	// Named is an alternative to Start, for a behaviour that the node exports.
	Named Named
	// Options of the spawn: name, place, mailbox. The supervisor sets Link and Announce; For is the peer that has added the
	// child by a message.
	Options node.Options

	Restart     Restart       // default: Permanent
	Shutdown    time.Duration // BrutalKill, node.Infinity, or a time; default: 5 s for a Worker, node.Infinity for a Supervisor
	Type        ChildType     // default: Worker
	Significant bool          // see AutoShutdown; not for a Permanent child
	Backoff     Backoff       // default: restart at once, as in OTP

	// Modules are shown by which_children. Default: the module of Named or Start.
	Modules []wire.Atom

	done *Done `isolation:"share"` // of a child of a Dynamic, or nil
}

// Named is an exported behaviour, by name, with arguments: OTP's mfargs().
type Named struct {
	Module, Function wire.Atom
	Args             []any
}

// Backoff delays the restarts of a child: by Initial before the first, then by Factor times the previous delay, at most
// Max. All of them count toward the supervisor's intensity. OTP has no equivalent.
type Backoff struct {
	Initial time.Duration // 0 means no delay
	Factor  float64       // default: 2; at least 1
	Max     time.Duration // default: 1 min
	// Jitter is the fraction, 0 to 1, by which a delay is randomly shortened or lengthened.
	Jitter float64
	// Reset is the running time of a child after which its next delay is Initial again. Default: Max.
	Reset time.Duration
}

// SpecError reports an invalid Spec or Child, with OTP's reason.
type SpecError struct {
	Reason any
	// Child is the number of the invalid child, from 1, or 0 if the error is not about a child; ID is its ID, or nil.
	Child int
	ID    any

	exit *node.ExitError // of the supervisor that has not started, or nil
}

func (e *SpecError) Error() string {
	which := ""
	switch {
	case e.ID != nil:
		which = "child " + wire.Formatter{Max: 1 << 8}.Format(e.ID) + ": "
	case e.Child > 0:
		which = fmt.Sprintf("child number %d: ", e.Child)
	}
	return "supervisor: bad specification: " + which + sysmsg.Words(e.Reason)
}

// Unwrap returns the exit of the supervisor, if any.
func (e *SpecError) Unwrap() error {
	if e.exit == nil {
		return nil
	}
	return e.exit
}

// wrong returns err, an error of complete, with the child that it is about.
func (k *Child) wrong(err error, number int) error {
	if e, ok := err.(*SpecError); ok {
		e.Child, e.ID = number, k.ID
	}
	return err
}

// term returns the reason that Erlang's callers get.
func (e *SpecError) term() any {
	if e.exit != nil {
		return e.exit.Reason
	}
	return e.Reason
}

func bad(reason wire.Atom, value any) error {
	return &SpecError{Reason: wire.Tuple{reason, value}}
}

func duplicate(id any) error { return bad("duplicate_child_name", id) }

// CheckSpecs validates children like OTP's check_childspecs.
func CheckSpecs(children []Child, auto AutoShutdown) error {
	auto, ok := known(auto, autoShutdowns)
	if !ok {
		return bad("badarg", wire.Atom(auto))
	}
	var seen wire.Map
	for i := range children {
		k := children[i]
		if err := k.complete(auto); err != nil {
			return k.wrong(err, i+1)
		}
		if _, twice := seen.Get(k.ID); twice {
			return k.wrong(duplicate(k.ID), i+1)
		}
		seen.Put(k.ID, true)
	}
	return nil
}

// complete checks the flags and fills in defaults. It ignores Children.
func (s *Spec) complete() error {
	var isStrategy, isAuto bool
	s.Strategy, isStrategy = known(s.Strategy, strategies)
	s.AutoShutdown, isAuto = known(s.AutoShutdown, autoShutdowns)
	switch {
	case !isStrategy:
		return bad("invalid_strategy", wire.Atom(s.Strategy))
	case s.Intensity < NoRestarts:
		return bad("invalid_intensity", s.Intensity)
	case s.Period < 0:
		return bad("invalid_period", seconds(s.Period))
	case !isAuto:
		return bad("invalid_auto_shutdown", wire.Atom(s.AutoShutdown))
	}
	switch s.Intensity {
	case 0:
		s.Intensity = defaultIntensity
	case NoRestarts:
		s.Intensity = 0
	}
	if s.Period == 0 {
		s.Period = defaultPeriod
	}
	return nil
}

// complete checks k in the same order as OTP, and fills in defaults.
func (k *Child) complete(auto AutoShutdown) error {
	var isRestart, isType bool
	k.Restart, isRestart = known(k.Restart, restarts)
	k.Type, isType = known(k.Type, types)
	if k.Shutdown == 0 && k.Type == Supervisor {
		k.Shutdown = node.Infinity
	} else if k.Shutdown == 0 {
		k.Shutdown = defaultShutdown
	}
	switch {
	case k.ID == nil:
		return &SpecError{Reason: wire.Atom("missing_id")}
	case k.Start == nil && k.Named.Module == "" && k.Named.Function == "":
		return &SpecError{Reason: wire.Atom("missing_start")}
	case k.Start == nil && (k.Named.Module == "" || k.Named.Function == ""):
		return bad("invalid_mfa", k.mfa(nil))
	case !isRestart:
		return bad("invalid_restart_type", wire.Atom(k.Restart))
	case k.combines(auto) != nil:
		return k.combines(auto)
	case !isType:
		return bad("invalid_child_type", wire.Atom(k.Type))
	case k.Shutdown < BrutalKill:
		return bad("invalid_shutdown", int(k.Shutdown/time.Millisecond))
	}
	return k.Backoff.complete()
}

// combines validates a significant child.
func (k *Child) combines(auto AutoShutdown) error {
	var with wire.Tuple
	switch {
	case k.Significant && auto == Never:
		with = wire.Tuple{aAutoShutdown, aNever}
	case k.Significant && k.Restart == Permanent:
		with = wire.Tuple{aRestart, wire.Atom(Permanent)}
	default:
		return nil
	}
	return bad("bad_combination", wire.List{with, wire.Tuple{aSignificant, wire.AtomTrue}})
}

func (b *Backoff) complete() error {
	if *b == (Backoff{}) {
		return nil
	}
	switch {
	case b.Initial <= 0, b.Max < 0, b.Reset < 0, b.Factor != 0 && !(b.Factor >= 1), math.IsInf(b.Factor, 0),
		!(b.Jitter >= 0 && b.Jitter <= 1):
		return &SpecError{Reason: wire.Tuple{wire.Atom("invalid_backoff"),
			fmt.Sprintf("%+v: want Initial above 0, Factor at least 1, Max and Reset not below 0, Jitter 0 to 1", *b)}}
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
	if b.Max == 0 {
		b.Max = time.Minute
	}
	if b.Reset == 0 {
		b.Reset = b.Max
	}
	return nil
}

// seconds converts a duration to OTP's unit for periods.
func seconds(d time.Duration) int { return int(d / time.Second) }

func init() {
	termof.Enter((*SpecError).term)
	termof.Enter((*unknownRequest).term)
}

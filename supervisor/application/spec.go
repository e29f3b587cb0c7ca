package application

import (
	"cmp"
	"context"
	"time"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// Type says what the end of an application means to the others: OTP's
// restart_type(), though nothing is restarted.
type Type string

const (
	Temporary Type = "temporary" // nothing: it is logged
	Transient Type = "transient" // all others are stopped, unless it ended with the reason normal
	Permanent Type = "permanent" // all others are stopped
)

// known is t, Temporary for none; false: there is no such Type.
func (t Type) known() (Type, bool) {
	t = cmp.Or(t, Temporary)
	return t, t == Temporary || t == Transient || t == Permanent
}

// Spec describes an application: what its .app file does in OTP, and its
// callback module. With neither Top nor Start it is a library, which other
// applications may depend on.
type Spec struct {
	Name        wire.Atom
	Description string
	Version     string // vsn
	// Depends are the applications that must have been started before: the key
	// applications.
	Depends []wire.Atom
	// Optional are those of Depends that need not be there.
	Optional   []wire.Atom
	Modules    []wire.Atom
	Registered []wire.Atom // names that its processes are registered under, for others to see
	// Env is the environment that it starts with: terms or any Go values.
	Env map[wire.Atom]any
	// Type is how [Controller.StartAll] starts it. Default: Temporary, as in OTP.
	Type Type

	// Top is the supervisor at the top of its tree, and TopOptions are the
	// options of its spawn. Link and Announce are the application's own.
	Top        *supervisor.Spec
	TopOptions node.Options
	// Start, in place of Top, starts the application and returns its top process,
	// as start/2 of an OTP application does. It may block, until ctx ends. p is
	// the process that it runs in, which has nothing in its mailbox: spawn the top
	// process from it, linked. Start must not receive.
	Start func(ctx context.Context, p *node.Process) (node.PID, error)
	// PrepStop is called before the top process is asked to exit, Stop after it
	// has; if it has exited without that, both are. They have StopTimeout together
	// with the tree.
	PrepStop, Stop func()
	// StopTimeout is how long a stop may take; what is there then is killed.
	// Default: 30 s; [node.Infinity] sets no limit, as in OTP.
	StopTimeout time.Duration
}

const defaultStopTimeout = 30 * time.Second

// Check checks s without regard to other applications: it returns an [*Error] with the Code bad_spec or cycle, or nil.
func (s *Spec) Check() error {
	if s.Name == "" || !s.Name.Valid() {
		return bad("invalid_name", s.Name)
	}
	if s.Top != nil && s.Start != nil {
		return bad("badstartspec", "Top and Start cannot be combined")
	}
	if _, ok := s.Type.known(); !ok {
		return bad("invalid_restart_type", wire.Atom(s.Type))
	}
	if s.StopTimeout < 0 {
		return bad("invalid_stop_timeout", int(s.StopTimeout/time.Millisecond))
	}
	depends := make(map[wire.Atom]bool, len(s.Depends))
	for _, d := range s.Depends {
		switch {
		case d == s.Name:
			return inCircle([]wire.Atom{d, d})
		case depends[d]:
			return bad("duplicate_application", d)
		}
		depends[d] = true
	}
	for _, o := range s.Optional {
		if !depends[o] {
			return bad("optional_application_not_in_applications", o)
		}
	}
	return nil
}

// isLibrary reports whether there is nothing to run.
func (s *Spec) isLibrary() bool { return s.Top == nil && s.Start == nil }

func (s *Spec) isOptional(dep wire.Atom) bool {
	for _, o := range s.Optional {
		if o == dep {
			return true
		}
	}
	return false
}

// start starts the top process from p.
func (s *Spec) start(ctx context.Context, p *node.Process) (node.PID, error) {
	if s.Start != nil {
		return s.Start(ctx, p)
	}
	o := s.TopOptions
	o.Link = true
	return supervisor.Start(ctx, p, *s.Top, o)
}

// Info is what [Controller.Which] and [Controller.Loaded] list.
type Info struct {
	Name                 wire.Atom
	Description, Version string
}

// term is {Name, Description, Vsn}, the texts as Erlang's strings.
func (i Info) term() any {
	return wire.Tuple{i.Name, wire.Charlist(i.Description), wire.Charlist(i.Version)}
}

func (s *Spec) info() Info { return Info{s.Name, s.Description, s.Version} }

func init() {
	termof.Enter(Info.term)
}

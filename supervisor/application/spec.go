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

// RestartType defines the effect of an application's end on the others: OTP's restart_type(), although nothing is restarted.
type RestartType string

const (
	Temporary RestartType = "temporary" // none; it is logged
	Transient RestartType = "transient" // all others are stopped, unless it ended with the reason normal
	Permanent RestartType = "permanent" // all others are stopped
)

// known returns t, or Temporary if t is empty. It returns false for an unknown RestartType.
func (t RestartType) known() (RestartType, bool) {
	t = cmp.Or(t, Temporary)
	return t, t == Temporary || t == Transient || t == Permanent
}

// Spec describes an application, like its .app file and callback module in OTP. Without Top and Start it is a library,
// which other applications may depend on.
type Spec struct {
	Name        wire.Atom
	Description string
	Version     string // vsn
	// Depends are the applications that must have been started before: the key
	// applications.
	Depends []wire.Atom
	// Optional are those of Depends that may be missing.
	Optional   []wire.Atom
	Modules    []wire.Atom
	Registered []wire.Atom // registered names of its processes, for information
	// Env is the initial environment: terms or any Go values.
	Env map[wire.Atom]any
	// Type is the type with which [Controller.StartAll] starts it. Default: Temporary, as in OTP.
	Type RestartType

	// Top is the supervisor at the top of its tree, and TopOptions are the
	// options of its spawn. The application sets Link and Announce.
	Top        *supervisor.Spec
	TopOptions node.Options
	// Start, an alternative to Top, starts the application and returns its top process, like start/2 of an OTP application.
	// It may block until ctx ends. p is the calling process: spawn the top process from it, linked. Start must not receive
	// messages.
	Start func(ctx context.Context, p *node.Process) (node.PID, error)
	// PrepStop is called before the top process is told to exit, and Stop after it has exited. If it exits on its own, both
	// are called. They and the tree share StopTimeout.
	PrepStop, Stop func()
	// StopTimeout bounds a stop; after that the remaining processes are killed. Default: 30 s; [node.Infinity] sets no
	// limit, as in OTP.
	StopTimeout time.Duration
}

const defaultStopTimeout = 30 * time.Second

// Check validates s, independent of other applications. It returns an [*Error] with the Code bad_spec or cycle, or nil.
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

// isLibrary reports whether the application has nothing to run.
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

// Info is an entry of [Controller.Which] and [Controller.Loaded].
type Info struct {
	Name                 wire.Atom
	Description, Version string
}

// term returns {Name, Description, Vsn}, with texts as Erlang strings.
func (i Info) term() any {
	return wire.Tuple{i.Name, wire.Charlist(i.Description), wire.Charlist(i.Version)}
}

func (s *Spec) info() Info { return Info{s.Name, s.Description, s.Version} }

func init() {
	termof.Enter(Info.term)
}

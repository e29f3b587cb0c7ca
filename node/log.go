package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// Log returns a logger for what the process logs. Its lines go to Config.Log, with the PID of the process as process, its
// registered name as name, and its behaviour as behaviour. [Node.SetLogLevel] says how much is logged, by name or by behaviour.
// If the process has a trace token whose label is a traceparent (see package otel), the lines have its trace_id and span_id:
// those that it had when Log was called. The logger may be kept, and used on any goroutine.
func (c *core) Log() *slog.Logger {
	p := c.by.Own()
	h := &processLog{n: nodeOf(p.System), p: p}
	if t, ok := p.Traceparent(); ok {
		h.trace = &t
	}
	return slog.New(h)
}

// LogLevel is the lowest level of what some processes log by Log of a [Context] or a [Process], in place of that of Config.Log.
type LogLevel struct {
	Name      Atom   // of those registered as this; "": with any name, or none
	Behaviour string // of those whose behaviour Info shows as this; "": any
	Level     slog.Level
}

// mostLogLevels is the most LogLevels that a node keeps.
const mostLogLevels = 256

// SetLogLevel sets the level of some processes, and replaces an earlier one for the same Name and Behaviour. It is in effect
// at once, also for loggers that are in use. If several fit a process, that with its name decides; of these, and of those
// without a name, that with its behaviour. Errors: [ErrArgument] (neither a name nor a behaviour), [ErrTooMany] (256 are set).
func (n *Node) SetLogLevel(l LogLevel) error {
	if l.Name == "" && l.Behaviour == "" {
		return fmt.Errorf("%w: a LogLevel needs a Name, a Behaviour or both; Config.Log has the level of all others", ErrArgument)
	}
	for {
		old := n.logLevels.Load()
		all := append(withoutLevel(old, l.Name, l.Behaviour), l)
		if len(all) > mostLogLevels {
			return fmt.Errorf("%w: %d log levels are set", ErrTooMany, mostLogLevels)
		}
		slices.SortFunc(all, func(a, b LogLevel) int { return cmp.Or(b.rank()-a.rank(), cmp.Compare(a.key(), b.key())) })
		if n.logLevels.CompareAndSwap(old, &all) {
			return nil
		}
	}
}

// ResetLogLevel takes back SetLogLevel. It reports whether there was such a level.
func (n *Node) ResetLogLevel(name Atom, behaviour string) (was bool) {
	for {
		old := n.logLevels.Load()
		all := withoutLevel(old, name, behaviour)
		if old == nil || len(all) == len(*old) {
			return false
		}
		if n.logLevels.CompareAndSwap(old, &all) {
			return true
		}
	}
}

// LogLevels returns what SetLogLevel has set, in the order in which they are tried.
func (n *Node) LogLevels() []LogLevel {
	if all := n.logLevels.Load(); all != nil {
		return slices.Clone(*all)
	}
	return nil
}

// withoutLevel returns a copy of all without the level of a name and a behaviour.
func withoutLevel(all *[]LogLevel, name Atom, behaviour string) (kept []LogLevel) {
	if all == nil {
		return nil
	}
	for _, l := range *all {
		if l.Name != name || l.Behaviour != behaviour {
			kept = append(kept, l)
		}
	}
	return kept
}

// rank orders levels: the higher decides.
func (l LogLevel) rank() (r int) {
	if l.Name != "" {
		r += 2
	}
	if l.Behaviour != "" {
		r++
	}
	return r
}

func (l LogLevel) key() string { return string(l.Name) + " " + l.Behaviour }

// processLog is the slog.Handler of a process.
type processLog struct {
	n    *Node
	p    *process.Process
	with func(slog.Handler) slog.Handler // adds the attributes and groups of loggers made from the process's; nil: none

	trace *watch.Traceparent // nil: none
}

// who returns the registered name and the behaviour of a process.
func who(p *process.Process) (name Atom, behaviour string) {
	p.Mu.Lock()
	b := behaviourOf(p)
	if p.Cold != nil {
		name = p.Cold.Name
	}
	p.Mu.Unlock()
	return name, typeName(b)
}

// Enabled is part of slog.Handler.
func (h *processLog) Enabled(ctx context.Context, level slog.Level) bool {
	if all := h.n.logLevels.Load(); all != nil {
		name, behaviour := who(h.p)
		for _, l := range *all {
			if (l.Name == "" || l.Name == name) && (l.Behaviour == "" || l.Behaviour == behaviour) {
				return level >= l.Level
			}
		}
	}
	return h.n.cfg.Log.Enabled(ctx, level)
}

// Handle is part of slog.Handler.
func (h *processLog) Handle(ctx context.Context, r slog.Record) error {
	name, behaviour := who(h.p)
	attrs := []slog.Attr{slog.String("process", h.p.PID().String()), slog.String("behaviour", behaviour)}
	if name != "" {
		attrs = slices.Insert(attrs, 1, slog.String("name", string(name)))
	}
	if h.trace != nil {
		trace, span := h.trace.IDs()
		attrs = append(attrs, slog.String("trace_id", trace), slog.String("span_id", span))
	}
	to := h.n.cfg.Log.Handler().WithAttrs(attrs)
	if h.with != nil {
		to = h.with(to)
	}
	return to.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h *processLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.then(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

// WithGroup is part of slog.Handler.
func (h *processLog) WithGroup(name string) slog.Handler {
	return h.then(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

// then returns h with one more step of h.with.
func (h *processLog) then(step func(slog.Handler) slog.Handler) *processLog {
	before := h.with
	with := func(to slog.Handler) slog.Handler {
		if before != nil {
			to = before(to)
		}
		return step(to)
	}
	return &processLog{h.n, h.p, with, h.trace}
}

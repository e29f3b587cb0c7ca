package watch

import (
	"context"
	"log/slog"
	"slices"

	"github.com/actornode/actornode/wire"
)

// Crash is a process that has crashed.
type Crash struct {
	Process   wire.PID
	Name      wire.Atom // may be "", like the label
	Label     string
	Parent    wire.PID // zero if spawned from outside
	Behaviour string
	Reason    error
	Stack     []byte // may be nil
	Details   []any  // attributes that the behaviour adds
}

// The counters of crashes: of a behaviour, and of a registered name.
const (
	BehaviourCrashes = "behaviour_crashes"
	NameCrashes      = "name_crashes"
)

// Crashed reports a crash, like a crash report of Erlang. All are counted and logged.
func (l *Reports) Crashed(c Crash) {
	l.count(c)
	l.writeCrash(c)
}

func (l *Reports) count(c Crash) {
	if l.Count(BehaviourCrashes, c.Behaviour); c.Name != "" {
		l.Count(NameCrashes, string(c.Name))
	}
}

// Await is Crashed for a process whose supervisor first reports its decision, by Decided. If the supervisor ends before that,
// the crash is logged with the next.
func (l *Reports) Await(c Crash) {
	l.count(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.awaited == nil {
		l.awaited = make(map[error]Crash)
	}
	l.awaited[c.Reason] = c
}

// Decided logs the awaited crash with a reason, with attributes of its supervisor. It returns false if none is awaited.
func (l *Reports) Decided(reason error, attrs ...any) bool {
	l.mu.Lock()
	c, ok := l.awaited[reason]
	delete(l.awaited, reason)
	l.mu.Unlock()
	if ok {
		c.Details = append(slices.Clip(c.Details), attrs...)
		l.writeCrash(c)
	}
	return ok
}

// Forsaken logs the awaited crashes of children whose supervisor has ended, or of all if alive is nil.
func (l *Reports) Forsaken(alive func(wire.PID) bool) {
	var left []Crash
	l.mu.Lock()
	for reason, c := range l.awaited {
		if alive == nil || !alive(c.Parent) {
			left = append(left, c)
			delete(l.awaited, reason)
		}
	}
	l.mu.Unlock()
	for _, c := range left {
		l.writeCrash(c)
	}
}

// On reports whether crashes are logged: otherwise there is nothing to wait for.
func (l *Reports) On() bool { return l.log.Enabled(context.Background(), slog.LevelError) }

func (l *Reports) writeCrash(c Crash) {
	if !l.On() {
		return
	}
	attrs := []any{"process", c.Process.String()}
	if c.Name != "" {
		attrs = append(attrs, "name", string(c.Name))
	}
	if c.Label != "" {
		attrs = append(attrs, "label", c.Label)
	}
	if !c.Parent.IsZero() {
		attrs = append(attrs, "parent", c.Parent.String())
	}
	attrs = append(attrs, "behaviour", c.Behaviour, "reason", c.Reason.Error())
	attrs = append(attrs, c.Details...)
	if len(c.Stack) > 0 {
		attrs = append(attrs, "stack", string(c.Stack))
	}
	l.log.Error("crash report", attrs...)
}

package report

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/wire"
)

// Crash is a process that has crashed.
type Crash struct {
	Process   wire.PID
	Name      wire.Atom // "": none, and so is the label
	Label     string
	Parent    wire.PID // zero: spawned from outside
	Behaviour string
	Reason    fmt.Stringer
	Stack     []byte // nil: there is none
}

// The counters of crashes: of a behaviour, and of a registered name.
const (
	BehaviourCrashes = "behaviour_crashes"
	NameCrashes      = "name_crashes"
)

// Crashed is what Erlang calls a crash report. All are counted and logged.
func (l *Log) Crashed(c Crash) {
	if l.Count(BehaviourCrashes, c.Behaviour); c.Name != "" {
		l.Count(NameCrashes, string(c.Name))
	}
	if !l.Log.Enabled(context.Background(), slog.LevelError) {
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
	attrs = append(attrs, "behaviour", c.Behaviour, "reason", c.Reason.String())
	if len(c.Stack) > 0 {
		attrs = append(attrs, "stack", string(c.Stack))
	}
	l.Log.Error("crash report", attrs...)
}

package supervisor

import (
	"context"
	"log/slog"
	"strings"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/wire"
)

// report is a supervisor report: what went wrong with a child. what is OTP's
// error context: start_error, child_terminated, shutdown_error, shutdown.
func (s *supervisor) report(what string, reason any, k *child) {
	log := s.c.Node().Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	attrs := []any{"supervisor", sysmsg.DisplayName(s.c), "context", what, "reason", sysmsg.Words(reason)}
	log.Error("supervisor report", append(attrs, k.attrs()...)...)
}

// progress is a progress report: a child has started.
func (s *supervisor) progress(k *child) {
	if log := s.c.Node().Log(); log.Enabled(context.Background(), slog.LevelInfo) {
		log.Info("progress report", append([]any{"supervisor", sysmsg.DisplayName(s.c)}, k.attrs()...)...)
	}
}

func (k *child) attrs() []any {
	return []any{"child", k.title(), "process", k.pid.String(), "type", string(k.spec.Type),
		"restart", string(k.spec.Restart), "restarts", k.restarts}
}

// title is the child's id for people: a string as it is, else as Erlang writes the term.
func (k *child) title() string {
	if s, ok := k.id().(string); ok {
		return strings.ToValidUTF8(wire.FormatGo("%v", s, maxID), "\uFFFD") // as a label of a metric has to be
	}
	return wire.FormatPlainMax(k.id(), maxID)
}

// maxID is how much of a child's id logs and counts show, in bytes: other nodes may
// start children.
const maxID = 256

// tally counts under the supervisor's name, "" where it is not registered, and more labels.
func (s *supervisor) tally(what string, labels ...string) {
	nodehook.Count(s.c.Node(), what, append([]string{string(s.c.Registered())}, labels...)...)
}

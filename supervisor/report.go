package supervisor

import (
	"context"
	"log/slog"
	"strings"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// report is a supervisor report: what went wrong with a child. what is OTP's
// error context: start_error, child_terminated, shutdown_error, shutdown. decision is what follows. Of a child that has
// crashed it stands in the crash report.
func (s *supervisor) report(what string, reason any, k *child, decision string) {
	log := s.c.Node().Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	attrs := append([]any{"supervisor", sysmsg.DisplayName(s.c), "context", what, "decision", decision}, k.attrs()...)
	if s.c.Node().Inside(process.Key{}).ReportCrash(reason, attrs...) {
		return
	}
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 && t[0] == aEXIT { // Start has panicked, and there was no process
		if crash, ok := t[1].(*node.Crash); ok {
			reason, attrs = crash, append(attrs, "stack", string(crash.Stack))
		}
	}
	log.Error("supervisor report", append(attrs, "process", k.pid.String(), "reason", sysmsg.Words(reason))...)
}

// unknown logs the crash that a process has ended by, if report has not: it is no child, or its start has failed.
func (s *supervisor) unknown(reason any) {
	if !s.c.Node().Log().Enabled(context.Background(), slog.LevelError) {
		return
	}
	s.c.Inside(process.Key{}).ReportCrash(reason, "supervisor", sysmsg.DisplayName(s.c), "decision", "none: it has not been started")
}

// ReportsCrashes says to the node that crash reports of children are logged with what is decided: see report.
func (*supervisor) ReportsCrashes() {}

// decision is an action in words.
func (a action) decision(k *child) string {
	switch {
	case a.limit:
		return "the supervisor ends: more restarts than its intensity allows"
	case a.end:
		return "the supervisor ends: the child is significant"
	case a.restart == none && k.dynamic:
		return "none: the child is forgotten"
	case a.restart == none:
		return "the child stays stopped"
	case a.restart == self:
		return "restart the child"
	case a.restart == rest:
		return "restart the child and those started after it"
	}
	return "restart all children"
}

// progress is a progress report: a child has started. Of the many that a supervisor of the strategy SimpleOneForOne
// starts it is for DEBUG.
func (s *supervisor) progress(k *child) {
	level := slog.LevelInfo
	if k.dynamic {
		level = slog.LevelDebug // there may be thousands, which come and go
	}
	if log := s.c.Node().Log(); log.Enabled(context.Background(), level) {
		attrs := append([]any{"supervisor", sysmsg.DisplayName(s.c)}, k.attrs()...)
		log.Log(context.Background(), level, "progress report", append(attrs, "process", k.pid.String())...)
	}
}

func (k *child) attrs() []any {
	return []any{"child", k.title(), "type", string(k.spec.Type),
		"restart", string(k.spec.Restart), "restarts", k.restarts}
}

// title is the child's id for people: a string as it is, else as Erlang writes the term.
func (k *child) title() string {
	if s, ok := k.id().(string); ok {
		return strings.ToValidUTF8(wire.Describe(s, maxID), "\uFFFD") // as a label of a metric has to be
	}
	return wire.FormatMax(k.id(), maxID)
}

// maxID is how much of a child's id logs and counts show, in bytes: other nodes may
// start children.
const maxID = 256

// tally counts under the supervisor's name, "" where it is not registered, and more labels.
func (s *supervisor) tally(what string, labels ...string) {
	s.c.Node().Inside(process.Key{}).Count(what, append([]string{string(s.c.Registered())}, labels...)...)
}

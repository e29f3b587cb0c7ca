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

// report logs a supervisor report about a child. what is OTP's error context: start_error, child_terminated,
// shutdown_error, shutdown. decision is the supervisor's reaction. For a crashed child it is in the crash report instead.
func (s *supervisor) report(what string, reason any, k *child, decision string) {
	log := s.c.Node().Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	attrs := append([]any{"supervisor", sysmsg.DisplayName(s.c), "context", what, "decision", decision}, k.attrs()...)
	if s.c.Node().Inside(process.Key{}).ReportCrash(reason, attrs...) {
		return
	}
	if t, ok := reason.(wire.Tuple); ok && len(t) == 2 && t[0] == aEXIT { // Start has panicked, without a process
		if crash, ok := t[1].(*node.Crash); ok {
			reason, attrs = crash, append(attrs, "stack", string(crash.Stack))
		}
	}
	log.Error("supervisor report", append(attrs, "process", k.pid.String(), "reason", sysmsg.Words(reason))...)
}

// unknown logs the crash of a process that report does not handle: it is not a child, or its start has failed.
func (s *supervisor) unknown(reason any) {
	if !s.c.Node().Log().Enabled(context.Background(), slog.LevelError) {
		return
	}
	s.c.Inside(process.Key{}).ReportCrash(reason, "supervisor", sysmsg.DisplayName(s.c), "decision", "none: it has not been started")
}

// ReportsCrashes tells the node that the supervisor logs the crash reports of its children: see report.
func (*supervisor) ReportsCrashes() {}

// decision describes an action in words.
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

// progress logs a progress report: a child has started. For the children of SimpleOneForOne its level is DEBUG.
func (s *supervisor) progress(k *child) {
	level := slog.LevelInfo
	if k.dynamic {
		level = slog.LevelDebug // there may be thousands of short-lived ones
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

// title returns the child's ID for people: a string unchanged, any other term in Erlang syntax.
func (k *child) title() string {
	if s, ok := k.id().(string); ok {
		return strings.ToValidUTF8(wire.Describe(s, maxID), "\uFFFD") // required for a metric's label
	}
	return wire.Formatter{Max: maxID}.Format(k.id())
}

// maxID is the maximum length of a child's ID, in bytes, in logs and metrics, because other nodes may start children.
const maxID = 256

// tally counts under the supervisor's name, or "" if it is not registered, and labels.
func (s *supervisor) tally(what string, labels ...string) {
	s.c.Node().Inside(process.Key{}).Count(what, append([]string{string(s.c.Registered())}, labels...)...)
}

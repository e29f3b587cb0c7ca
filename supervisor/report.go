package supervisor

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// name is what the supervisor is called in reports.
func (s *supervisor) name() string {
	if i, err := s.c.Node().Info(s.c.Self()); err == nil && i.Name != "" {
		return string(i.Name)
	}
	return s.c.Self().String()
}

// report is a supervisor report: what went wrong with a child. what is OTP's
// errorContext: start_error, child_terminated, shutdown_error, shutdown.
func (s *supervisor) report(what string, reason any, k *child) {
	log := s.c.Node().Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	attrs := append([]any{"supervisor", s.name(), "context", what, "reason", reasonText(reason)}, k.attrs()...)
	if crash, ok := reason.(*node.Crash); ok && len(crash.Stack) > 0 {
		attrs = append(attrs, "stack", string(crash.Stack))
	}
	log.Error("supervisor report", attrs...)
}

// progress is a progress report: a child has started.
func (s *supervisor) progress(k *child) {
	if log := s.c.Node().Log(); log.Enabled(context.Background(), slog.LevelInfo) {
		log.Info("progress report", append([]any{"supervisor", s.name()}, k.attrs()...)...)
	}
}

func (k *child) attrs() []any {
	return []any{"child", wire.FormatPlain(k.id()), "process", k.pid.String(), "type", k.spec.Type.String(),
		"restart", k.spec.Restart.String(), "restarts", k.restarts}
}

// reasonText is an exit reason in one line.
func reasonText(reason any) string {
	switch r := reason.(type) {
	case *node.Crash:
		return r.String()
	case error:
		return r.Error()
	case fmt.Stringer:
		return r.String()
	}
	return wire.FormatPlain(reason)
}

package node

import (
	"context"
	"log/slog"
)

// report logs the crash of a process by its own doing: what Erlang calls a
// crash report. Those that a link takes down with it are not reported.
func (d *death) report(crash *Crash) {
	log := d.p.node.cfg.Log
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	p := d.p
	attrs := []any{"process", p.pid().String()}
	if d.name != "" {
		attrs = append(attrs, "name", string(d.name))
	}
	if p.cold != nil && p.cold.label != "" {
		attrs = append(attrs, "label", p.cold.label)
	}
	if p.parent != 0 {
		attrs = append(attrs, "parent", p.node.origin.PID(p.parent-1).String())
	}
	attrs = append(attrs, "behaviour", typeName(p.behaviour), "reason", crash.String())
	if len(crash.Stack) > 0 {
		attrs = append(attrs, "stack", string(crash.Stack))
	}
	log.Error("crash report", attrs...)
}

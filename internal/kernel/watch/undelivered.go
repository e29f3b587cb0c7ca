package watch

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/env"

	"github.com/actornode/actornode/node/deadletter"
)

const causes = deadletter.WrongType + 1

// DeadLetters is the dead letters of a node. The zero value must be initialized by Init.
type DeadLetters struct {
	log    *slog.Logger
	env    env.Env
	counts [causes]atomic.Uint64
	lines  [causes]Throttle[deadletter.Letter]
	hub    Hub[deadletter.Letter]
}

// Init is called once, before any other method.
func (d *DeadLetters) Init(log *slog.Logger, e env.Env) {
	d.log, d.env = log, e
	for i := range d.lines {
		d.lines[i].Init(e, Pace{1, every}, d.write)
	}
}

// Add adds a letter and sets its time. One that cannot be sent is not logged: its sender gets the error, or package node logs
// it with the error.
func (d *DeadLetters) Add(l deadletter.Letter) {
	d.counts[l.Cause].Add(1)
	l.At = d.env.Now()
	d.hub.Send(l)
	if l.Cause != deadletter.NotATerm {
		d.lines[l.Cause].Add(l)
	}
}

// write writes a line on l. not is the number of those of its cause that have none.
func (d *DeadLetters) write(l deadletter.Letter, not uint64) {
	to := l.To.String()
	switch {
	case l.Name != "":
		to = string(l.Name)
	case !l.Alias.IsZero():
		to = l.Alias.String()
	}
	args := []any{"cause", l.Cause.String(), "message_type", Type(l.Message), "to", to, "not_logged", not}
	if l.Node != "" {
		args = append(args, "node", string(l.Node))
	}
	if l.Why != nil {
		args = append(args, "error", l.Why)
	}
	if why, ok := l.Message.(error); ok && l.Cause == deadletter.Unreadable { // it has no message
		args[2], args[3] = "error", why
	}
	level := slog.LevelWarn
	if l.Cause == deadletter.NodeStopped {
		level = slog.LevelDebug // Stop documents that queued messages are lost
	}
	d.log.Log(context.Background(), level, "dead letter", args...)
}

// Open opens a stream of the letters to come, which buffers up to buffer of them, at least 1.
func (d *DeadLetters) Open(buffer int) *deadletter.Stream {
	f := d.hub.Open(max(1, buffer))
	return deadletter.NewStream(f.C(), f.Missed, func() { d.hub.Drop(f) })
}

// Counts returns the number of letters by cause, without causes that have none.
func (d *DeadLetters) Counts() map[deadletter.Cause]uint64 {
	m := make(map[deadletter.Cause]uint64)
	for c := range causes {
		if k := d.counts[c].Load(); k > 0 {
			m[c] = k
		}
	}
	return m
}

// Close ends all streams, and logs what is not logged yet. Later letters are counted.
func (d *DeadLetters) Close() {
	d.hub.Close()
	for i := range d.lines {
		d.lines[i].Close()
	}
}

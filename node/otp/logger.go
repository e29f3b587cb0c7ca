package otp

import (
	"context"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Bounds of what this node logs for other nodes.
const (
	maxEvents    = 50      // per second; OTP's own handlers accept 500
	maxEventText = 8 << 10 // bytes per event
)

// logger is the process logger_proxy: it logs the events of other nodes. An OTP node sends it the events of processes
// whose group leader is here: for example the crash report of a call that this node has made there.
type logger struct {
	*tools
	second      time.Time // when the current second began
	taken, left int       // events logged and left out in it
}

// tellLater is what the process sends itself after leaving out an event, to log how many were left out once none has
// been for a second.
type tellLater struct{ left int }

// Init is part of node.Initializer.
func (l *logger) Init(c *node.Context) error {
	c.TrapExit(true)
	return nil
}

// State is what sys:get_state shows.
func (l *logger) State() any { return wire.NewMap(wire.Atom("left_out"), l.left) }

// Receive is part of node.Actor.
func (l *logger) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case tellLater:
		if l.left == m.left {
			l.tellLeft()
		} else if l.left > 0 {
			l.tellSoon(c)
		}
	case node.Exited:
		if m.From.IsZero() { // the node stops
			l.tellLeft()
			return node.ExitWith(m.Reason)
		}
	default:
		before := l.left
		if l.take(m); l.left == 1 && before == 0 {
			l.tellSoon(c)
		}
	}
	return nil
}

func (l *logger) tellSoon(c *node.Context) {
	_, _ = c.SendAfter(time.Second, c.Self(), tellLater{l.left}) // it fails when the node stops
}

// take logs an event, unless there have been too many within the second.
func (l *logger) take(m any) {
	if now := l.cfg.Now(); now.Sub(l.second).Abs() >= time.Second {
		l.tellLeft()
		l.second, l.taken = now, 0
	}
	if l.taken == maxEvents {
		l.left++
		return
	}
	l.taken++
	e := eventOf(m)
	l.n.Log().Log(context.Background(), e.level, "log event of another node", "peer", e.node, "process", e.process, "event", e.text)
}

// tellLeft logs how many events have been left out.
func (l *logger) tellLeft() {
	if l.left > 0 {
		l.n.Log().Warn("left out log events of other nodes", "events", l.left, "most_per_second", maxEvents)
		l.left = 0
	}
}

// logEvent is an event of OTP's logger.
type logEvent struct {
	level         slog.Level
	node, process string // where it comes from
	text          string
}

// levels maps the levels of OTP's logger.
var levels = map[any]slog.Level{
	wire.Atom("emergency"): slog.LevelError, wire.Atom("alert"): slog.LevelError, wire.Atom("critical"): slog.LevelError,
	wire.AtomError: slog.LevelError, wire.Atom("warning"): slog.LevelWarn, wire.Atom("notice"): slog.LevelInfo,
	wire.Atom("info"): slog.LevelInfo, wire.Atom("debug"): slog.LevelDebug,
}

// eventOf reads {log, Level, StringOrReport, Meta} or {log, Level, Format, Args, Meta}. Anything else is an event of
// level debug.
func eventOf(m any) logEvent {
	t, _ := m.(wire.Tuple)
	if len(t) != 4 && len(t) != 5 || t[0] != wire.Atom("log") {
		return logEvent{level: slog.LevelDebug, text: wire.Formatter{Max: maxEventText}.Format(sysmsg.Term(m))}
	}
	var e logEvent
	if atom, ok := t[1].(wire.Atom); ok {
		e.level = levels[atom]
	}
	if meta, ok := t[len(t)-1].(wire.Map); ok {
		if pid, ok := meta.Get(wire.Atom("pid")); ok {
			e.process = wire.Formatter{Max: maxEventText}.Format(pid)
			if pid, ok := pid.(wire.PID); ok {
				e.node = string(pid.Node())
			}
		}
	}
	e.text = eventText(t[2 : len(t)-1])
	return e
}

// eventText returns what an event says: a text, a report, or a format and its arguments.
func eventText(what []any) string {
	if len(what) == 2 {
		pattern, ok := charData(what[0], true)
		if args, list := wire.AsList(what[1]); ok && list {
			if text, err := format(pattern, args); err == nil {
				return cut(text, maxEventText)
			}
		}
		return wire.Formatter{Max: maxEventText}.Format(wire.Tuple(what))
	}
	if text, ok := charData(what[0], true); ok {
		return cut(text, maxEventText)
	}
	return wire.Formatter{Max: maxEventText}.Format(what[0])
}

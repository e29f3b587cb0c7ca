package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/loglimit"
)

// logging is the daemon's log.
type logging struct {
	*slog.Logger
	level  *slog.LevelVar    // may be changed at any time
	limits *loglimit.Handler // what others can provoke
	file   io.Closer         // nil: standard error
}

// newLog makes the log.
func newLog(cfg *config.Config, stderr io.Writer) (*logging, error) {
	l := &logging{level: new(slog.LevelVar)}
	l.level.Set(cfg.Log.Level)
	to := stderr
	if cfg.Log.File != "" {
		f, err := os.OpenFile(cfg.Log.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
		if err != nil {
			return nil, fail(exitFailed, err, "cannot open the log file")
		}
		to, l.file = f, f
	}
	to = &lineWriter{to: to}
	o := &slog.HandlerOptions{Level: l.level}
	var h slog.Handler
	switch cfg.Log.Format {
	case "text":
		h = slog.NewTextHandler(to, o)
	case "json":
		h = slog.NewJSONHandler(to, o)
	default:
		return nil, fmt.Errorf("log.format %q: not a known format (this is a bug: the configuration check must refuse it)",
			cfg.Log.Format)
	}
	l.limits = loglimit.New(h, loglimit.Config{Lines: cfg.Log.Lines, Bytes: cfg.Log.Bytes})
	l.Logger = slog.New(l.limits)
	return l, nil
}

// close is to be called when all has been said. A log that cannot be written is no
// reason for the daemon to fail.
func (l *logging) close() error {
	l.limits.Close()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// lineWriter ends a line of which only the beginning could be written, before the
// next one: a disk may fill up in the middle of one. Package slog writes one line at a
// time.
type lineWriter struct {
	to      io.Writer
	partial bool
}

// Write is part of io.Writer.
func (w *lineWriter) Write(b []byte) (n int, err error) {
	if w.partial {
		if _, err := w.to.Write([]byte("\n")); err != nil {
			return 0, err
		}
		w.partial = false
	}
	n, err = w.to.Write(b)
	w.partial = n > 0 && n < len(b)
	return n, err
}

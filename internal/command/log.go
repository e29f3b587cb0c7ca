package command

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/loglimit"
)

// logging is the daemon's log.
type logging struct {
	*slog.Logger
	level  *slog.LevelVar    // may be changed at any time
	limits *loglimit.Handler // what others can provoke
	out    *lineWriter
	file   string   // "": standard error
	opened *os.File // nil: none
}

// newLog makes the log.
func newLog(cfg *config.Config, stderr io.Writer) (*logging, error) {
	l := &logging{level: new(slog.LevelVar), out: &lineWriter{to: stderr}, file: cfg.Log.File}
	l.level.Set(cfg.Log.Level)
	if err := l.reopen(); err != nil {
		return nil, fail(exitFailed, err, "cannot open the log file")
	}
	o := &slog.HandlerOptions{Level: l.level}
	var h slog.Handler
	switch cfg.Log.Format {
	case "text":
		h = slog.NewTextHandler(l.out, o)
	case "json":
		h = slog.NewJSONHandler(l.out, o)
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
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// reopen opens the log file by its name, which may be another file since it was moved away. After an error the
// log goes on where it was. It is not to be called beside close.
func (l *logging) reopen() error {
	if l.file == "" {
		return nil
	}
	f, err := os.OpenFile(l.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	l.out.redirect(f)
	if l.opened != nil {
		_ = l.opened.Close() // what was written is in the file, or lost, and counted as such
	}
	l.opened = f
	return nil
}

// lineWriter ends a line of which only the beginning could be written, before the
// next one: a disk may fill up in the middle of one.
type lineWriter struct {
	mu      sync.Mutex
	to      io.Writer
	partial bool
}

// redirect has what follows written elsewhere.
func (w *lineWriter) redirect(to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to, w.partial = to, false
}

// Write is part of io.Writer.
func (w *lineWriter) Write(b []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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

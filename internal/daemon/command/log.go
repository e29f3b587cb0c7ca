package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/daemon/loglimit"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/internal/regular"
)

// logging is the daemon's log.
type logging struct {
	*slog.Logger
	level  *slog.LevelVar    // may be changed at any time
	limits *loglimit.Handler // limits lines caused by other nodes
	out    *lineWriter
	file   string   // "" for standard error
	opened *os.File // nil if none
	seen   gaveUp
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
		h = slog.NewTextHandler(escapedLines{l.out}, o)
	case "json":
		h = slog.NewJSONHandler(escapedLines{l.out}, o)
	default:
		return nil, fmt.Errorf("log.format %q: not a known format (this is a bug: the configuration check must refuse it)",
			cfg.Log.Format)
	}
	name := slog.String("node", cfg.Name)
	l.limits = loglimit.New(ofNode{h, name}, loglimit.Config{Lines: cfg.Log.Lines,
		Bytes: max(cfg.Log.Bytes-len(cfg.Name)-nodeCost, leastBytes)})
	l.Logger = slog.New(&witness{Handler: l.limits, seen: &l.seen})
	return l, nil
}

const (
	nodeCost   = 10  // ,"node":""
	leastBytes = 128 // of a line, whatever the length of the name
)

// ofNode adds the name of the node at the end of each line, to tell apart the lines of several nodes in one store.
type ofNode struct {
	slog.Handler
	name slog.Attr
}

// Handle is part of slog.Handler.
func (h ofNode) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(h.name) // r is a copy: see loglimit
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h ofNode) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ofNode{h.Handler.WithAttrs(attrs), h.name}
}

// WithGroup is part of slog.Handler.
func (h ofNode) WithGroup(name string) slog.Handler { return ofNode{h.Handler.WithGroup(name), h.name} }

// witness remembers the last report of a supervisor about a child that was restarted too often: processes that end with the
// supervisor know only that it has ended.
type witness struct {
	slog.Handler
	seen *gaveUp
}

// gaveUp records why a supervisor has given up. In the zero value none has.
type gaveUp struct {
	mu    sync.Mutex
	child string // exit reason of the last child
	text  string
}

// Handle is part of slog.Handler.
func (h *witness) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "supervisor report" {
		words := make(map[string]string)
		r.Attrs(func(a slog.Attr) bool {
			text := printable.Text(a.Value.String())
			words[a.Key] = text[:min(len(text), 300)]
			return true
		})
		h.seen.hear(words)
	}
	return h.Handler.Handle(ctx, r)
}

func (g *gaveUp) hear(words map[string]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch words["context"] {
	case "child_terminated":
		g.child = words["reason"]
	case "shutdown":
		g.text = fmt.Sprintf("supervisor %s has given up on child %s, which ended too often (%s)", words["supervisor"],
			words["child"], g.child)
	}
}

// why returns the recorded reason, or "".
func (g *gaveUp) why() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text
}

// WithAttrs is part of slog.Handler.
func (h *witness) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &witness{h.Handler.WithAttrs(attrs), h.seen}
}

// WithGroup is part of slog.Handler.
func (h *witness) WithGroup(name string) slog.Handler {
	return &witness{h.Handler.WithGroup(name), h.seen}
}

// close must be called after the last line. An unwritable log does not make the daemon fail.
func (l *logging) close() error {
	l.limits.Close()
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// reopen opens the log file by name again, since the old one may have been moved. After an error the log continues in the
// old file. It must not be called concurrently with close.
func (l *logging) reopen() error {
	if l.file == "" {
		return nil
	}
	f, err := os.OpenFile(l.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY|regular.NoWait, 0o640)
	if err != nil {
		return err
	}
	l.out.redirect(f)
	if l.opened != nil {
		_ = l.opened.Close() // earlier lines are in the file, or lost and counted
	}
	l.opened = f
	return nil
}

// lostFile reports that the log file cannot be reopened, also on standard error, since the old file may have been deleted.
// If it has no name left, the log continues on standard error until the file can be opened.
func (l *logging) lostFile(err error, stderr io.Writer) {
	goesOn := "in the old one"
	if is, _ := l.opened.Stat(); is == nil || nameless(is) {
		goesOn = "on standard error"
		l.out.redirect(stderr)
	} else {
		fmt.Fprintf(stderr, "cannot open the log file anew, the log goes on %s: %v\n", goesOn, err)
	}
	l.Error("cannot open the log file anew: the log goes on "+goesOn, "file", l.file, "error", err)
}

// escapedLines escapes the control characters that slog does not: in JSON all except the characters below 32, in text DEL.
type escapedLines struct{ to io.Writer }

// Write is part of io.Writer.
func (w escapedLines) Write(b []byte) (int, error) {
	n, err := w.to.Write(printable.Escape(make([]byte, 0, len(b)), b))
	if err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

// lineWriter terminates a line that was written only in part before it writes the next one: a disk may fill up in the
// middle of a line.
type lineWriter struct {
	mu      sync.Mutex
	to      io.Writer
	partial bool
}

// redirect sends later output to another writer.
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

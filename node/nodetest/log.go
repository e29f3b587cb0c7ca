package nodetest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/actornode/actornode/node"
)

// Log keeps what a node logs, all levels. It is safe for concurrent use. The zero value is ready:
//
//	log := new(nodetest.Log)
//	n := nodetest.Start(t, node.Config{Log: log.Logger()})
type Log struct {
	mu      sync.Mutex
	records []LogRecord
	changed chan struct{} // closed by the next record; nil without a waiter
}

// LogRecord is a line of a Log.
type LogRecord struct {
	Time    time.Time
	Level   slog.Level
	Message string
	Attrs   map[string]any // by key; those of a group have its name and a dot before theirs
}

// Logger returns a logger whose lines l keeps.
func (l *Log) Logger() *slog.Logger { return slog.New(&logHandler{log: l}) }

// Records returns the lines so far, oldest first. Settle waits for those of what is under way.
func (l *Log) Records() []LogRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// About returns the lines so far that have the PID of a process, oldest first.
func (l *Log) About(pid node.PID) []LogRecord {
	return slices.DeleteFunc(l.Records(), func(r LogRecord) bool {
		for _, v := range r.Attrs {
			if v == any(pid) || v == any(pid.String()) {
				return false
			}
		}
		return true
	})
}

// Await returns the oldest line that match accepts, and waits for it if there is none yet.
func (l *Log) Await(t testing.TB, match func(LogRecord) bool) LogRecord {
	t.Helper()
	end := time.NewTimer(Timeout)
	defer end.Stop()
	for seen := 0; ; {
		l.mu.Lock()
		all := l.records
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		for ; seen < len(all); seen++ {
			if match(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-changed:
		case <-end.C:
			t.Fatalf("no such line was logged within %v; the log: %+v", Timeout, all)
		}
	}
}

// logHandler is the slog.Handler of a Log.
type logHandler struct {
	log    *Log
	attrs  map[string]any
	prefix string // of keys: the open groups
}

func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := &logHandler{h.log, maps.Clone(h.attrs), h.prefix}
	if with.attrs == nil {
		with.attrs = make(map[string]any)
	}
	for _, a := range attrs {
		put(with.attrs, h.prefix, a)
	}
	return with
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &logHandler{h.log, h.attrs, h.prefix + name + "."}
}

func (h *logHandler) Handle(_ context.Context, rec slog.Record) error {
	r := LogRecord{rec.Time, rec.Level, rec.Message, maps.Clone(h.attrs)}
	if r.Attrs == nil {
		r.Attrs = make(map[string]any)
	}
	rec.Attrs(func(a slog.Attr) bool { put(r.Attrs, h.prefix, a); return true })
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	h.log.records = append(h.log.records, r)
	if h.log.changed != nil {
		close(h.log.changed)
		h.log.changed = nil
	}
	return nil
}

// put adds an attribute to m.
func put(m map[string]any, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() != slog.KindGroup {
		if a.Key != "" {
			m[prefix+a.Key] = v.Any()
		}
		return
	}
	if a.Key != "" {
		prefix += a.Key + "."
	}
	for _, b := range v.Group() {
		put(m, prefix, b)
	}
}

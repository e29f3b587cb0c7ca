// Package logtest captures the log of a test, as text or as records, for the test to read. Everything is safe for
// concurrent use, also in bubbles of testing/synctest.
package logtest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Text is a writer whose text can be read at any time. The zero value is ready.
type Text struct {
	mu      sync.Mutex
	b       strings.Builder
	changed chan struct{} // closed by the next Write; nil without a waiter
}

// Write adds p. It does not fail.
func (x *Text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changed != nil {
		close(x.changed)
		x.changed = nil
	}
	return x.b.Write(p)
}

// Printf adds a line.
func (x *Text) Printf(format string, args ...any) { fmt.Fprintf(x, format+"\n", args...) }

// String returns the text written since the last Take.
func (x *Text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// Take is like String, and clears the text.
func (x *Text) Take() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.b.Reset()
	return x.b.String()
}

// Await waits until String contains part, and fails the test after testkit.Limit.
func (x *Text) Await(t testing.TB, part string) {
	t.Helper()
	for end := time.After(testkit.Limit); ; {
		x.mu.Lock()
		all := x.b.String()
		if x.changed == nil {
			x.changed = make(chan struct{})
		}
		changed := x.changed
		x.mu.Unlock()
		if strings.Contains(all, part) {
			return
		}
		select {
		case <-changed:
		case <-end:
			require.Fail(t, "this is never said", "%q is not in\n%s", part, all)
		}
	}
}

// Logger returns a logger that writes lines of text here, from slog.LevelInfo on.
func (x *Text) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(x, nil)) }

// Records is a slog.Handler for all levels that keeps records. The zero value is ready. It ignores attributes added by With
// and WithGroup of a logger.
type Records struct {
	mu  sync.Mutex
	all []map[string]any
}

// Enabled is true.
func (r *Records) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs returns r.
func (r *Records) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup returns r.
func (r *Records) WithGroup(string) slog.Handler { return r }

// Handle keeps a record.
func (r *Records) Handle(_ context.Context, rec slog.Record) error {
	line := map[string]any{"msg": rec.Message, "level": rec.Level}
	rec.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.Any(); return true })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, line)
	return nil
}

// With returns the records with a message, oldest first: their attributes by name,
// and "msg" and "level".
func (r *Records) With(msg string) []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.with(msg)
}

// Take is like With, and removes all records.
func (r *Records) Take(msg string) []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.all = nil }()
	return r.with(msg)
}

func (r *Records) with(msg string) (found []map[string]any) {
	for _, line := range r.all {
		if line["msg"] == msg {
			found = append(found, line)
		}
	}
	return found
}

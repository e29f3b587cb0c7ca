package loglimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Config sets the limits. The zero value has the defaults.
type Config struct {
	Lines int // of one kind per second; ten times as many below WARN. Default: 10
	Bytes int // of one line; four times as many at level ERROR. Default: 4096; at least 256
	Kinds int // distinguished at a time. Default: 256
}

const (
	defaultLines = 10
	defaultBytes = 4 << 10
	defaultKinds = 256
	minBytes     = 256
	errorFactor  = 4
)

// Handler is a slog.Handler that enforces the limits of its Config. Handlers made by WithAttrs and WithGroup share its
// limits.
type Handler struct {
	*shared
	next slog.Handler

	// The part of a line used by WithAttrs and WithGroup, in bytes.
	taken  int
	prefix int
}

// shared is the state shared by a Handler and the handlers made from it.
type shared struct {
	cfg  Config
	root slog.Handler // for the lines of this package

	mu      sync.Mutex
	limiter *limiter
	timer   *time.Timer // nil if nothing is pending, or closed
	closed  bool
	left    uint64 // total left out
	failed  uint64 // total not written
	lost    uint64 // not written, and not reported yet
	why     error  // the last failure
}

// New returns a handler around next. It panics if a field of c is negative, or Bytes
// is 1 to 255.
func New(next slog.Handler, c Config) *Handler {
	if c.Lines < 0 || c.Kinds < 0 || c.Bytes < 0 || c.Bytes > 0 && c.Bytes < minBytes {
		panic(fmt.Sprintf("loglimit: New: %+v: want 0 or more, and Bytes at least %d", c, minBytes))
	}
	for _, f := range []struct {
		is *int
		by int
	}{{&c.Lines, defaultLines}, {&c.Bytes, defaultBytes}, {&c.Kinds, defaultKinds}} {
		if *f.is == 0 {
			*f.is = f.by
		}
	}
	return &Handler{next: next, shared: &shared{cfg: c, root: next, limiter: newLimiter(c.Lines, c.Kinds)}}
}

// Counts counts the lines that were not written.
type Counts struct {
	LeftOut uint64 // by the limit of their kind
	Failed  uint64 // the wrapped handler returned an error
}

// Counts returns the current counts.
func (h *Handler) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Counts{h.left, h.failed}
}

// Enabled is part of slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle is part of slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	left, ok := h.limiter.admit(r.Level, r.Message, time.Now())
	if !ok {
		h.left++
		h.arm()
	}
	h.mu.Unlock()
	if !ok {
		return nil
	}
	return h.write(ctx, h.next, h.cut(r, left))
}

// WithAttrs is part of slog.Handler. All its attributes together may take half of a line.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	with := *h
	kept, size := cutAttrs(attrs, max(0, h.cfg.Bytes/2-h.taken), h.prefix)
	with.taken += size
	with.next = h.next.WithAttrs(kept)
	return &with
}

// WithGroup is part of slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.prefix += len(name) + len(".")
	with.taken += groupCost + len(name)
	with.next = h.next.WithGroup(name)
	return &with
}

// write passes r to next, and counts a failure.
func (h *Handler) write(ctx context.Context, next slog.Handler, r slog.Record) error {
	err := next.Handle(ctx, r)
	h.mu.Lock()
	if err != nil {
		h.failed++
		h.lost++
		h.why = err
		h.mu.Unlock()
		return err
	}
	lost, why := h.lost, h.why
	h.lost, h.why = 0, nil
	h.mu.Unlock()
	if lost == 0 {
		return nil
	}
	return h.report(slog.LevelError, "log lines were lost: they could not be written", lost,
		slog.Uint64("lost", lost), slog.String("last_error", why.Error()))
}

// report writes a line about missing lines. If that fails, lost lines are reported later, and lines over the limits not at
// all.
func (h *Handler) report(level slog.Level, message string, lost uint64, attrs ...slog.Attr) error {
	if !h.root.Enabled(context.Background(), level) {
		return nil
	}
	r := slog.NewRecord(time.Now(), level, message, 0)
	r.AddAttrs(attrs...)
	whole := &Handler{shared: h.shared, next: h.root}
	err := h.root.Handle(context.Background(), whole.cut(r, 0))
	if err != nil {
		h.mu.Lock()
		h.failed++
		h.lost += lost + 1
		h.why = err
		h.mu.Unlock()
	}
	return err
}

// arm starts the timer that reports ended bursts. mu is held.
func (s *shared) arm() {
	if s.timer == nil && !s.closed {
		s.timer = time.AfterFunc(2*window, s.reportBursts) // ends by itself; Close stops it
	}
}

// reportBursts runs on the timer's goroutine.
func (s *shared) reportBursts() {
	s.mu.Lock()
	s.timer = nil
	if s.closed {
		s.mu.Unlock()
		return
	}
	over := s.limiter.over(time.Now())
	if s.limiter.pending > 0 {
		s.arm()
	}
	s.mu.Unlock()
	s.reportAll(over)
}

func (s *shared) reportAll(over []kind) (err error) {
	h := &Handler{shared: s, next: s.root}
	for _, k := range over {
		err = errors.Join(err, h.report(k.level, "similar log lines were left out", 0,
			slog.String("message", k.message), slog.Uint64("not_logged", k.left)))
	}
	return err
}

// Close reports the lines left out so far. Later lines are still limited, but only another line of their kind reports what
// was left out.
func (h *Handler) Close() error {
	h.mu.Lock()
	h.closed = true
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	over := h.limiter.over(time.Time{})
	h.mu.Unlock()
	return h.reportAll(over)
}

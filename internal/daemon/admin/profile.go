package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"time"

	"github.com/actornode/actornode/node"
)

// ProfileQuery describes a profile of the program of a node.
type ProfileQuery struct {
	Kind node.Atom     `etf:",required"`    // cpu, heap (as of the last garbage collection), goroutine, trace
	For  time.Duration `etf:",ms,omitzero"` // how long cpu and trace measure; default 5 s, at most 5 minutes
	StreamOptions
}

// Bounds and defaults of a profile.
const (
	defaultProfileTime = 5 * time.Second
	maxProfileTime     = 5 * time.Minute
	maxProfileSize     = 64 << 20 // bytes; a trace ends when it has so many
	profileChunk       = 64 << 10 // bytes of an event
	profileWindow      = 16       // chunks in flight
)

// profileKinds are the kinds of profiles.
var profileKinds = []node.Atom{"cpu", "heap", "goroutine", "trace"}

// chunk is an event of a profile: some bytes of it.
type chunk struct{ Bytes []byte }

// profile opens a stream of chunks, in the format of pprof or, of kind trace, of go tool trace.
func (q *request) profile() (any, error) {
	o, err := q.newStreamSender()
	if err != nil {
		return nil, err
	}
	var ask struct {
		Kind node.Atom     `etf:",required"`
		For  time.Duration `etf:",ms,omitzero"`
	}
	if err := q.options(&ask); err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(profileKinds, ask.Kind):
		return nil, fmt.Errorf("%w: profile: kind %s: want cpu, heap, goroutine or trace", ErrBadRequest, ask.Kind)
	case ask.For < 0 || ask.For > maxProfileTime:
		return nil, fmt.Errorf("%w: profile: for must be 0 to %d ms", ErrBadRequest, maxProfileTime.Milliseconds())
	case ask.For == 0:
		ask.For = defaultProfileTime
	}
	o.window = min(o.window, profileWindow)
	if o.window == 0 {
		o.window = profileWindow
	}
	o.credit.Store(o.window)
	o.dropped = func() uint64 { return 0 }
	return q.open(o, func(node.PID) (func(), error) {
		p := &profiler{full: make(chan struct{}, 1)}
		stop, err := p.begin(ask.Kind)
		if err != nil {
			return nil, err
		}
		chunks := make(chan chunk)
		ctx, end := context.WithCancel(context.Background())
		go p.run(ctx, ask.For, stop, chunks)
		go (&eventPump[chunk]{sender: o, n: q.n, source: chunks, endReason: "complete",
			show: func(c chunk) (any, bool) { return c, true }}).run()
		return end, nil
	})
}

// profiler makes a profile. It keeps it until it is complete, so that a slow client does not slow the program down.
type profiler struct {
	data bytes.Buffer
	full chan struct{} // capacity 1: maxProfileSize is reached
}

// errTooLarge means that a profile has more than twice maxProfileSize: it went on growing while it was ended.
var errTooLarge = errors.New("admin: the profile is too large")

// Write implements io.Writer.
func (p *profiler) Write(b []byte) (int, error) {
	if p.data.Len()+len(b) > 2*maxProfileSize {
		return 0, errTooLarge
	}
	if p.data.Write(b); p.data.Len() > maxProfileSize {
		select {
		case p.full <- struct{}{}:
		default:
		}
	}
	return len(b), nil
}

// begin begins to measure. Of a kind that does not take time, stop is nil.
func (p *profiler) begin(kind node.Atom) (stop func(), err error) {
	switch kind {
	case "cpu":
		stop, err = pprof.StopCPUProfile, pprof.StartCPUProfile(p)
	case "trace":
		stop, err = trace.Stop, trace.Start(p)
	default:
		return nil, pprof.Lookup(string(kind)).WriteTo(p, 0)
	}
	if err != nil { // it has no other reason
		return nil, fmt.Errorf("%w: another %s profile of the program is being made: %w", ErrBusy, kind, err)
	}
	return stop, nil
}

// run is the profiler's goroutine. It starts with the stream and ends with ctx, which the stream's end cancels, or when the
// profile has been sent.
func (p *profiler) run(ctx context.Context, d time.Duration, stop func(), to chan<- chunk) {
	defer close(to)
	if stop != nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.full:
		case <-ctx.Done():
		}
		stop() // p gets no more
	}
	for ctx.Err() == nil && p.data.Len() > 0 {
		select {
		case to <- chunk{Bytes: p.data.Next(profileChunk)}:
		case <-ctx.Done():
		}
	}
}

// Profile measures the program of a node and writes the profile to w, within q.For and the time that it takes to send it.
// patience is how long it waits for the answer, and then for each further part. Errors, in addition to those of all functions
// here: [ErrBusy] if another profile of the kind is being made, [ErrLost], and those of w.
func Profile(ctx context.Context, from node.Caller, at node.Atom, q ProfileQuery, patience time.Duration, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(patience, func() { cancel(context.DeadlineExceeded) })
	defer timer.Stop()
	s, err := open[chunk](ctx, from, at, "profile", &q, &q.StreamOptions)
	if err != nil {
		return err
	}
	defer s.Close()
	if q.For == 0 {
		q.For = defaultProfileTime
	}
	timer.Reset(q.For + patience)
	for c := range s.C {
		timer.Reset(patience)
		if _, err := w.Write(c.Bytes); err != nil {
			return err
		}
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case s.Why() != "complete":
		return fmt.Errorf("%w: %s: the profile is not complete: %s", ErrLost, at, s.Why())
	}
	return nil
}

package epmdclient

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// state names the state of a registration.
func state(s epmd.Status) string {
	switch {
	case s.Registered:
		return "registered"
	case s.Err == nil:
		return "stopped"
	case errors.Is(s.Err, epmd.ErrRefused):
		return "refused"
	}
	return "lost"
}

// alive is a maintained registration: its connection stays open, and when it ends the name is registered again, until Stop.
// The creation does not change.
type alive struct {
	// Set once, before the goroutine starts.
	client *Client
	reg    Registration
	revive func(context.Context) bool // starts a port mapper after the last one has ended; may be nil
	stop   context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	status epmd.Status
}

// keepAlive registers. If no port mapper answers and revive is set, it calls revive, and if that succeeds, makes another
// attempt at once.
func (c *Client) keepAlive(ctx context.Context, r Registration, revive func(context.Context) bool) (*alive, error) {
	if err := checkName(r.Name); err != nil {
		return nil, err
	}
	a := &alive{client: c, reg: r.withDefaults(), revive: revive, done: make(chan struct{})}
	conn, err := a.attempt(ctx)
	for i := 0; i < lostAttempts && revive != nil && isLost(err) && sleep(ctx, lostPause); i++ {
		conn, err = a.attempt(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("register %q: %w", r.Name, err)
	}
	var life context.Context
	life, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	a.set(true, nil)
	go a.run(life, conn) // ended by Stop, which waits for it
	return a, nil
}

// The node that serves as the port mapper may end during the request. Another one replaces it within seconds, so a lost
// connection must not prevent a start.
const (
	lostAttempts = 15
	lostPause    = 200 * time.Millisecond
)

// isLost reports whether the connection ended before an answer.
func isLost(err error) bool {
	return errors.Is(err, errHungUp) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (a *alive) current() epmd.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// end releases the name: it closes the connection and waits for the goroutine. It may be called more than once.
func (a *alive) end() {
	a.stop()
	<-a.done
}

func (a *alive) run(life context.Context, conn net.Conn) {
	defer close(a.done)
	defer a.set(false, nil)
	for conn != nil {
		since := time.Now()
		err := hold(life, conn)
		if life.Err() != nil {
			return
		}
		a.set(false, err)
		// A keeper takes over at once, unless the answering port mapper has been refusing names for long.
		conn = a.again(life, a.revive != nil && time.Since(since) >= a.client.cfg.Retry)
	}
}

// leaveTime is the time that the port mapper may take to forget a name.
const leaveTime = 200 * time.Millisecond

// hold waits until conn, on which no more data is expected, or life ends. Then it closes its side for writing, and waits
// until the port mapper has closed the connection too: until then the name may count as taken.
func hold(life context.Context, conn net.Conn) error {
	defer conn.Close()
	defer context.AfterFunc(life, func() {
		half, ok := conn.(interface{ CloseWrite() error })
		if !ok || half.CloseWrite() != nil || conn.SetReadDeadline(time.Now().Add(leaveTime)) != nil {
			_ = conn.Close()
		}
	})()
	n, err := conn.Read(make([]byte, 1))
	if n > 0 {
		err = fmt.Errorf("%w: unexpected bytes after the answer to %v", epmdserver.ErrMalformed, epmdserver.OpAlive)
	}
	return fmt.Errorf("epmd: connection: %w", err)
}

// again tries to register until it succeeds, or returns nil when life ends. It waits before each attempt, except the first
// if atOnce is set.
func (a *alive) again(life context.Context, atOnce bool) net.Conn {
	for {
		if !atOnce && !sleep(life, a.client.cfg.Retry) {
			return nil
		}
		atOnce = false
		conn, err := a.attempt(life)
		switch {
		case err == nil:
			a.set(true, nil)
			return conn
		case life.Err() != nil:
			return nil
		default:
			a.set(false, err)
		}
	}
}

// sleep waits for d and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt registers once, or twice if a revive helped, and settles the creation
// at the first success.
func (a *alive) attempt(ctx context.Context) (net.Conn, error) {
	answer, conn, err := a.ask(ctx)
	if errors.Is(err, epmd.ErrUnreachable) && ctx.Err() == nil && a.revive != nil && a.revive(ctx) {
		answer, conn, err = a.ask(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case answer.Result != 0:
		_ = conn.Close()
		return nil, fmt.Errorf("%w (result %d)", epmd.ErrRefused, answer.Result)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Creation = cmp.Or(a.status.Creation, a.reg.Creation, answer.Creation, randomCreation())
	return conn, nil
}

func (a *alive) ask(ctx context.Context) (epmdserver.AliveAnswer, net.Conn, error) {
	const longest = 6
	r := epmdserver.Request{Op: epmdserver.OpAlive, Registration: a.reg.message()}
	return exchange(ctx, a.client, "", r, longest, epmdserver.ParseAlive)
}

// randomCreation returns a nonzero creation, for use when the port mapper gives none.
func randomCreation() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return max(1, binary.BigEndian.Uint32(b[:]))
}

// set records the state, and reports it if it or its cause has changed.
func (a *alive) set(registered bool, err error) {
	a.mu.Lock()
	same := a.status.Registered == registered && fmt.Sprint(a.status.Err) == fmt.Sprint(err)
	a.status.Registered, a.status.Err = registered, err
	status := a.status
	a.mu.Unlock()
	if same {
		return
	}
	log := a.client.cfg.Logger.With("name", a.reg.Name, "creation", status.Creation)
	if err != nil {
		log = log.With("cause", err)
	}
	log.Info("epmd: " + state(status))
	if f := a.client.cfg.OnStatus; f != nil {
		f(a.reg.Name, status)
	}
}

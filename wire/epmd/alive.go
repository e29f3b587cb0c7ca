package epmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// State is where a registration stands.
//
//	Register ok ──▶ Registered ──connection ends──▶ Lost ──every Retry──▶ Registered
//	                                                 │ ▲                      ▲
//	                                          refused▼ │not even refused      │ok
//	                                                Refused ──every Retry─────┘
//	Stop: from each of them to Stopped
type State uint8

const (
	Registered State = iota + 1 // the port mapper holds our name
	Lost                        // it does not, and nobody has said why; we keep trying
	Refused                     // it does not: it is there but will not have it; we keep trying
	Stopped                     // Stop was called
)

// String returns the name of s.
func (s State) String() string {
	switch s {
	case Registered:
		return "registered"
	case Lost:
		return "lost"
	case Refused:
		return "refused"
	case Stopped:
		return "stopped"
	}
	return "invalid"
}

// Status is the state of a registration and what led to it.
type Status struct {
	State    State
	Creation uint32 // ours, the same in all states
	Err      error  // why it is Lost or Refused
}

// Alive is a registration that is kept: its connection stays open, and when it
// ends the name is registered again, until [Alive.Stop]. The creation stays what
// it was.
type Alive struct {
	// Set once, before the goroutine starts.
	client *Client
	reg    Registration
	revive func(context.Context) bool // nil, or the keeper's takeOver
	stop   context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	status Status
}

// Register registers a node at the port mapper of this host and returns when
// that has answered; ctx bounds this first attempt only. It returns ErrRefused
// if the name is taken, ErrUnreachable if there is no port mapper. Thereafter it
// is up to the Alive, which must be stopped.
func (c *Client) Register(ctx context.Context, r Registration) (*Alive, error) {
	return c.keepAlive(ctx, r, nil)
}

// keepAlive registers. If nobody answers and there is a revive, this is asked to
// change that, and if it has, another attempt is made at once.
func (c *Client) keepAlive(ctx context.Context, r Registration, revive func(context.Context) bool) (*Alive, error) {
	if err := checkName(r.Name); err != nil {
		return nil, err
	}
	a := &Alive{client: c, reg: r.withDefaults(), revive: revive, done: make(chan struct{})}
	conn, err := a.attempt(ctx)
	if err != nil {
		return nil, fmt.Errorf("register %q: %w", r.Name, err)
	}
	var life context.Context
	life, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	a.set(Registered, nil)
	go a.run(life, conn) // ended by Stop, which waits for it
	return a, nil
}

// Creation returns the creation of this life of the node; it never changes.
func (a *Alive) Creation() uint32 { return a.Status().Creation }

// Status returns the present state.
func (a *Alive) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// Stop gives the name up: it closes the connection and waits for the goroutine.
// It may be called more than once.
func (a *Alive) Stop() {
	a.stop()
	<-a.done
}

func (a *Alive) run(life context.Context, conn net.Conn) {
	defer close(a.done)
	defer a.set(Stopped, nil)
	for conn != nil {
		since := time.Now()
		err := hold(life, conn)
		if life.Err() != nil {
			return
		}
		a.set(Lost, err)
		// A keeper takes over at once, unless whoever answers takes no names for long.
		conn = a.again(life, a.revive != nil && time.Since(since) >= a.client.cfg.Retry)
	}
}

// hold waits until conn ends, on which nothing more should come, or life does.
func hold(life context.Context, conn net.Conn) error {
	defer context.AfterFunc(life, func() { _ = conn.Close() })()
	n, err := conn.Read(make([]byte, 1))
	_ = conn.Close()
	if n > 0 {
		err = fmt.Errorf("%w: unexpected bytes after the answer to %v", ErrMalformed, OpAlive)
	}
	return fmt.Errorf("epmd: connection: %w", err)
}

// again tries to register until it has, or life ends and it returns nil. Before
// each attempt, except the first if atOnce, it waits.
func (a *Alive) again(life context.Context, atOnce bool) net.Conn {
	for {
		if !atOnce && !sleep(life, a.client.cfg.Retry) {
			return nil
		}
		atOnce = false
		conn, err := a.attempt(life)
		switch {
		case err == nil:
			a.set(Registered, nil)
			return conn
		case life.Err() != nil:
			return nil
		case errors.Is(err, ErrRefused):
			a.set(Refused, err)
		default:
			a.set(Lost, err)
		}
	}
}

// sleep waits for d and reports whether ctx is still alive.
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
func (a *Alive) attempt(ctx context.Context) (net.Conn, error) {
	answer, conn, err := a.ask(ctx)
	if errors.Is(err, ErrUnreachable) && ctx.Err() == nil && a.revive != nil && a.revive(ctx) {
		answer, conn, err = a.ask(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case answer.Result != 0:
		_ = conn.Close()
		return nil, fmt.Errorf("%w (result %d)", ErrRefused, answer.Result)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Creation = cmp.Or(a.status.Creation, a.reg.Creation, answer.Creation, randomCreation())
	return conn, nil
}

func (a *Alive) ask(ctx context.Context) (AliveAnswer, net.Conn, error) {
	const longest = 6
	return exchange(ctx, a.client, "", Request{Op: OpAlive, Registration: a.reg}, longest, ParseAlive)
}

// randomCreation returns a creation for when the port mapper gives none: any
// number but 0.
func randomCreation() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return max(1, binary.BigEndian.Uint32(b[:]))
}

// set notes the state, and tells it where it is another or has another cause.
func (a *Alive) set(s State, err error) {
	a.mu.Lock()
	same := a.status.State == s && fmt.Sprint(a.status.Err) == fmt.Sprint(err)
	a.status.State, a.status.Err = s, err
	status := a.status
	a.mu.Unlock()
	if same {
		return
	}
	log := a.client.cfg.Logger.With("name", a.reg.Name, "creation", status.Creation)
	if err != nil {
		log = log.With("cause", err)
	}
	log.Info("epmd: " + s.String())
	if f := a.client.cfg.OnStatus; f != nil {
		f(a.reg.Name, status)
	}
}

package epmdclient

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// Keeper keeps a node registered: the connection to the port mapper stays open, and
// when it ends the name is registered again, until [Keeper.Stop]. The creation does not change.
//
// A Keeper made by [Client.Keep] needs no port mapper: if none answers, it becomes the port mapper itself, for all nodes of
// the host. When the answering port mapper dies, the Keeper that notices first takes its place; the others, including erl
// nodes, find it when they try again.
//
//	           no answer, the port is free: serve it
//	  client ────────────────────────────────────────────▶ client of its own server
//	(of any ) ◀──────────────────────────────────────────
//	           our server ended: killed, or its listener failed
type Keeper struct {
	client *Client
	alive  *alive // set once
	wg     sync.WaitGroup

	mu     sync.Mutex
	server *epmdserver.Server // nil while another process serves
	closed bool
}

// Register registers a node with the port mapper of this host and returns when that has answered; ctx bounds only this
// first attempt. It returns ErrRefused if the name is taken, ErrUnreachable if there is no port mapper. Afterwards the
// Keeper maintains the registration; it must be stopped.
func (c *Client) Register(ctx context.Context, r Registration) (*Keeper, error) {
	alive, err := c.keepAlive(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	return &Keeper{client: c, alive: alive}, nil
}

// Keep registers a node with the port mapper of this host, or becomes that port mapper, and returns when the node is
// registered; ctx bounds only this first attempt. It returns ErrRefused if the name is taken. The Keeper must be stopped.
func (c *Client) Keep(ctx context.Context, r Registration) (*Keeper, error) {
	k := &Keeper{client: c}
	alive, err := c.keepAlive(ctx, r, k.serveInstead)
	if err != nil {
		k.stopServer()
		return nil, err
	}
	k.alive = alive
	return k, nil
}

// Creation returns the creation of this incarnation of the node; it never changes.
func (k *Keeper) Creation() uint32 { return k.alive.current().Creation }

// Status returns the state of the registration.
func (k *Keeper) Status() epmd.Status { return k.alive.current() }

// Serving reports whether this keeper is the port mapper now.
func (k *Keeper) Serving() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.server != nil
}

// Stop releases the name, ends the server, if any, and waits for both. Another keeper may take over. It may be called more
// than once.
func (k *Keeper) Stop() {
	k.alive.end()
	k.stopServer()
}

func (k *Keeper) stopServer() {
	k.mu.Lock()
	k.closed = true
	s := k.server
	k.mu.Unlock()
	if s != nil {
		s.Stop()
	}
	k.wg.Wait()
}

// serveInstead becomes the port mapper if it can. It reports whether there should be one now: this one, or that of a faster
// process.
func (k *Keeper) serveInstead(ctx context.Context) bool {
	if k.Serving() {
		return false
	}
	cfg := k.client.cfg
	listeners, err := cfg.listenAll(ctx)
	if err != nil {
		cfg.Logger.Warn("epmd: no port mapper answers on this host, and this node cannot act as one: will retry", "error", err)
		return errors.Is(err, syscall.EADDRINUSE)
	}
	s, err := epmdserver.New(cfg.server())
	if err != nil {
		panic(err) // the client has checked the same Config
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		closeAll(listeners)
		return false
	}
	k.server = s
	k.wg.Go(func() { k.serve(s, listeners) }) // ended and awaited by stopServer
	cfg.Logger.Info("epmd: this node now acts as the port mapper of this host", "port", cfg.Port)
	return true
}

func (k *Keeper) serve(s *epmdserver.Server, listeners []net.Listener) {
	err := s.Serve(context.Background(), listeners...)
	k.mu.Lock()
	k.server = nil
	k.mu.Unlock()
	if !errors.Is(err, epmdserver.ErrStopped) {
		k.client.cfg.Logger.Warn("epmd: this node no longer acts as the port mapper: its server failed", "error", err)
	}
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

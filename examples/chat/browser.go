package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// browser is the process of one connection: it writes what it is sent. Its mailbox holds what waits for the browser, and
// drops the oldest when it is full.
//
//	other processes ─ Event ─▶ mailbox ─▶ browser ─▶ WebSocket
//	          all in the room ◀─ Event ─ read ◀───── WebSocket
type browser struct {
	*chat
	conn       *websocket.Conn
	room, name string
	missed     atomic.Int64 // events that the mailbox has dropped, and the browser has not been told of
}

func (b *browser) Init(c *genserver.Context) error {
	c.TrapExit(true) // for Terminate
	for _, group := range []any{roomOf(b.room), personOf(b.room, b.name)} {
		if err := b.scope.Join(c.Context(), c, group, c.Self()); err != nil {
			return fmt.Errorf("joining the room: %w", err)
		}
	}
	b.browsers.Store(c.Self(), b)
	go b.read(c.Context(), c.Node(), c.Self()) // ends with the connection, or with the process, whose context it has
	return nil
}

// drop counts an event that a mailbox has dropped.
func (c *chat) drop(to node.PID, msg any) {
	c.dropped.Add(1)
	if _, ok := msg.(Event); ok {
		if b, ok := c.browsers.Load(to); ok {
			b.(*browser).missed.Add(1)
		}
	}
}

// event writes an event, and what the browser has missed before. Lists of names may be among that: it gets the latest.
func (b *browser) event(c *genserver.Context, e Event) error {
	if missed := b.missed.Swap(0); missed > 0 {
		names, err := genserver.Call(c.Context(), c, node.Atom("people"), Names{Room: b.room})
		if err != nil {
			return node.ExitWith(node.Shutdown) // the node stops, or the tree is started again
		}
		if err := b.write(c, Event{Missed: missed, Who: names}); err != nil {
			return err
		}
	}
	return b.write(c, e)
}

func (b *browser) write(c *genserver.Context, e Event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	ctx, cancel := context.WithTimeout(c.Context(), b.Patience)
	defer cancel()
	c.Blocking(func() { err = b.conn.Write(ctx, websocket.MessageText, text) })
	if err == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		b.slow.Add(1)
	}
	return node.ExitWith(node.Shutdown) // the connection is gone, or given up
}

// Terminate closes the connection, because the tree stops or the browser is gone; then there is nothing left to close.
func (b *browser) Terminate(c *genserver.Context, _ any) {
	b.browsers.Delete(c.Self())
	c.Blocking(func() { b.conn.Close(websocket.StatusGoingAway, "going away") })
}

// read sends what the browser says to all in the room. It is the only goroutine that a quiet connection has.
func (b *browser) read(ctx context.Context, n *node.Node, self node.PID) {
	defer b.open.Add(-1)
	defer b.conn.CloseNow()
	defer n.Exit(self, node.Shutdown)
	for {
		kind, text, err := b.conn.Read(ctx)
		switch {
		case err != nil: // for a message that is too long the connection has been closed with 1009
			return
		case kind != websocket.MessageText || !utf8.Valid(text):
			b.conn.Close(websocket.StatusUnsupportedData, "text only")
			return
		}
		b.say(n, b.room, b.name, string(text))
		select {
		case <-time.After(b.Pace):
		case <-ctx.Done():
			return
		}
	}
}

var browsers = genserver.Define(genserver.OnInfo((*browser).event))

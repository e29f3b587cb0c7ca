package tlsdist

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actornode/actornode/wire"
)

const (
	lingerTime = time.Second // for the peer to read why it is refused
	lingerSize = 64 << 10    // of what it had sent before that
)

// conn is a TLS connection that says what has failed. Its errors before and in the
// handshake are of this package, and never io.EOF.
type conn struct {
	net.Conn // the *tls.Conn

	// Set once.
	by     *maker
	raw    net.Conn
	server bool   // this side was dialled
	peer   string // for errors

	host    string // that was dialled; of a server: that the peer wants, once known
	ours    atomic.Pointer[credentials]
	gotData atomic.Bool // something has been read after the handshake

	mu   sync.Mutex // of the handshake
	done atomic.Bool
	err  error
}

// ConnectionState shows protocols that this is TLS.
func (c *conn) ConnectionState() tls.ConnectionState { return c.tls().ConnectionState() }

func (c *conn) tls() *tls.Conn { return c.Conn.(*tls.Conn) }

// handshake is the handshake, once.
func (c *conn) handshake(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done.Load() || c.err != nil {
		return c.err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.by.cfg.Timeout, errSilent)
	defer cancel()
	if err := c.tls().HandshakeContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		c.err = c.explain(err)
		c.linger(err)
		_ = c.raw.Close()
		return c.err
	}
	c.done.Store(true)
	return nil
}

// linger lets a peer that has been refused read why: what it has sent must be read
// first, or the system takes the alert back.
func (c *conn) linger(err error) {
	half, ok := c.raw.(interface{ CloseWrite() error })
	var header tls.RecordHeaderError
	if !ok || isEnd(err) || isTimeout(err) || errors.As(err, &header) {
		return
	}
	if half.CloseWrite() == nil && c.raw.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.raw, lingerSize)
	}
}

// Read returns what the peer has sent, after the handshake.
func (c *conn) Read(b []byte) (int, error) {
	if err := c.ready(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.gotData.Load() {
		c.gotData.Store(true)
	}
	if err != nil && isAlert(err) != "" {
		err = c.explain(err)
	}
	return n, err
}

// Write sends, after the handshake. If the peer does not take it and nothing has
// come from it yet, it may have said why.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.ready(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if err != nil && isEnd(err) && !c.gotData.Load() {
		_ = c.raw.SetReadDeadline(time.Now().Add(lingerTime))
		if _, e := c.Conn.Read(make([]byte, 1)); e != nil && isAlert(e) != "" {
			err = c.explain(e)
		}
	}
	return n, err
}

func (c *conn) ready() error {
	if c.done.Load() {
		return nil
	}
	return c.handshake(context.Background()) // and Timeout, and the connection's deadline
}

// Vouch is part of [dist.Voucher].
func (c *conn) Vouch(peer wire.Atom) error {
	if c.by.cfg.AnyHost || !c.server {
		return nil // if not server, it has been checked
	}
	certs := c.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return &failure{text: fmt.Sprintf("%s named itself %s before it presented a certificate", c.peer, peer)}
	}
	if err := isFor(certs[0], hostOf(peer)); err != nil {
		return &failure{text: fmt.Sprintf("%s named itself %s, but its certificate (%s) is not for the host %s",
			c.peer, peer, describe(certs[0]), hostOf(peer)), cause: err}
	}
	return nil
}

// Close ends the connection, and says so if the peer takes it soon.
func (c *conn) Close() error {
	if !c.done.Load() {
		return c.raw.Close()
	}
	defer time.AfterFunc(lingerTime, func() { _ = c.raw.Close() }).Stop()
	return c.Conn.Close()
}

// isEnd reports whether the peer has ended the connection.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, errSilent)
}

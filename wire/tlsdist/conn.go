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
	lingerTime = time.Second // time for the peer to read why it is refused
	lingerSize = 64 << 10    // limit for data that it sent before that
)

// conn is a TLS connection with descriptive errors. Errors before and during the handshake are of this package, and never
// io.EOF.
type conn struct {
	net.Conn // the *tls.Conn

	// Set once.
	by     *maker
	raw    net.Conn
	server bool   // this side accepted the connection
	peer   string // for errors

	host    string // the dialed host; for a server, the requested one, once known
	ours    atomic.Pointer[credentials]
	gotData atomic.Bool // something has been read after the handshake

	mu   sync.Mutex // guards the handshake
	done atomic.Bool
	err  error
}

// ConnectionState lets protocols detect TLS.
func (c *conn) ConnectionState() tls.ConnectionState { return c.tls().ConnectionState() }

func (c *conn) tls() *tls.Conn { return c.Conn.(*tls.Conn) }

// handshake runs the handshake once.
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

// linger lets a refused peer read why. The data that it has sent must be read first, or the system discards the alert.
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

// Read reads after completing the handshake.
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

// Write writes after completing the handshake. If that fails before any data was received, the peer may have sent the
// reason.
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
	return c.handshake(context.Background()) // bounded by Timeout and the connection's deadline
}

// Vouch implements [dist.Voucher].
func (c *conn) Vouch(peer wire.Atom) error {
	if c.by.cfg.AnyHost || !c.server {
		return nil // a client has checked it already
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

// Close closes the connection, after a short attempt to notify the peer.
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

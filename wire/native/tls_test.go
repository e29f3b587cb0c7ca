package native

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// configs returns the TLS configs of two ends that know each other.
func configs(t *testing.T) (client, server *tls.Config) {
	a := certtest.New(t, "ca")
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(a.PEM))
	cert, key := a.Make(certtest.Host("host"))
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	return &tls.Config{RootCAs: pool, ServerName: "host"}, &tls.Config{Certificates: []tls.Certificate{pair}}
}

func TestOverTLS(t *testing.T) {
	client, server := configs(t)
	ca, cb := net.Pipe()
	la, lb, errA, errB := meet(t, tls.Client(ca, client), tls.Server(cb, server))
	require.NoError(t, errA)
	require.NoError(t, errB)
	defer cb.Close() // not the TLS connection's Close: it would wait for the other to read
	defer ca.Close()
	frames := []dist.Frame{
		{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: bytes.Repeat([]byte("long"), 100_000)},
		{Op: dist.OpSend, From: onA.PID(2), To: onB.PID(1), Payload: wire.Atom("short")},
	}
	go func() { // ends when all is sent, or with the link
		for i := range frames {
			_, _ = la.Write(&frames[i])
		}
		for left := 1; left > 0; {
			left, _ = la.Flush(false)
		}
	}()
	for i := range 2 { // the short one comes first
		var f dist.Frame
		require.NoError(t, lb.Read(&f))
		require.NoError(t, linkkit.Same(frames[1-i], f))
	}
}

// relay passes bytes between two connections, until one ends; then it closes those below them.
func relay(one, other net.Conn, below ...net.Conn) {
	for _, c := range [][2]net.Conn{{one, other}, {other, one}} {
		go func() { // ends with the connections
			b := make([]byte, 4096)
			for {
				n, err := c[0].Read(b)
				if err == nil {
					_, err = c[1].Write(b[:n])
				}
				if err != nil {
					for _, conn := range below {
						_ = conn.Close()
					}
					return
				}
			}
		}()
	}
}

// A party in between that ends TLS and knows no cookie cannot pass proofs on.
func TestBoundToTLS(t *testing.T) {
	client, server := configs(t)
	ca, x := net.Pipe()
	y, cb := net.Pipe()
	between, onward := tls.Server(x, server), tls.Client(y, client)
	relay(between, onward, x, y)
	_, _, errA, errB := meet(t, tls.Client(ca, client), tls.Server(cb, server))
	require.ErrorIs(t, errB, dist.ErrCookie)
	require.ErrorContains(t, errB, "or something between them")
	require.Error(t, errA)
}

// TLS at one end only is detected and reported.
func TestHalfTLS(t *testing.T) {
	client, server := configs(t)
	ca, x := net.Pipe()
	plain, cb := net.Pipe()
	between := tls.Server(x, server)
	relay(between, plain, x, plain)
	_, _, errA, errB := meet(t, tls.Client(ca, client), cb)
	require.ErrorIs(t, errB, dist.ErrNotAllowed)
	require.ErrorIs(t, errA, dist.ErrNotAllowed)
	require.ErrorContains(t, errA, "uses TLS: something between them")
}

// meet runs a handshake.
func meet(t *testing.T, ca, cb net.Conn) (la, lb dist.Link, errA, errB error) {
	done := make(chan struct{})
	go func() { // ends with the handshake
		defer close(done)
		lb, errB = new(Protocol).Accept(context.Background(), cb, dist.Handshake{Local: nodeB, Cookies: secret})
	}()
	la, errA = new(Protocol).Dial(t.Context(), ca, dist.Handshake{Local: nodeA, Peer: nodeB.Name, Cookies: secret})
	<-done
	return la, lb, errA, errB
}

package nodetest

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"
)

// A connection of the network behaves as others of package net do.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
		w := newNetwork()
		l, err := transport{w, "b"}.Listen(t.Context(), "")
		if err != nil {
			return nil, nil, nil, err
		}
		accepted := make(chan net.Conn, 1)
		go func() {
			c, _ := l.Accept()
			accepted <- c
		}()
		if a, err = (transport{w, "a"}).Dial(t.Context(), l.Addr().String(), "b"); err != nil {
			return nil, nil, nil, err
		}
		b = <-accepted
		return a, b, func() { a.Close(); b.Close(); l.Close() }, nil
	})
}

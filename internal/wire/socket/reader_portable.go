//go:build !linux || !amd64 || msan || actornode_portable || actornode_no_spin

package socket

import (
	"net"
	"time"
)

// Spins reports whether a Reader can wait without sleeping. Here it cannot.
const Spins = false

// Reader reads from a connection. It is for one goroutine at a time, through which all
// reads go. Here it only wraps the connection: a read blocks.
type Reader struct{ conn net.Conn }

// NewReader returns a Reader for a connection.
func NewReader(conn net.Conn) *Reader { return &Reader{conn} }

// Read reads from the connection.
func (r *Reader) Read(b []byte) (n int, err error) { return r.conn.Read(b) }

// Await returns false at once.
func (r *Reader) Await(time.Duration, func(), func() error) (came bool) { return false }

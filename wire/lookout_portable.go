//go:build !linux || !amd64 || race || msan || actornode_portable || actornode_no_spin

package wire

import (
	"net"
	"time"
)

// Spins says that a Lookout can wait without going to sleep. Here it cannot.
const Spins = false

// Lookout reads from a connection. It is for one goroutine at a time, through which all
// reads go. Here it is nothing but the connection: who reads waits asleep.
type Lookout struct{ conn net.Conn }

// NewLookout readies a Lookout for a connection.
func NewLookout(conn net.Conn) *Lookout { return &Lookout{conn} }

// Read reads from the connection.
func (l *Lookout) Read(b []byte) (n int, err error) { return l.conn.Read(b) }

// Await returns false at once.
func (l *Lookout) Await(time.Duration, func(), func() error) (came bool) { return false }

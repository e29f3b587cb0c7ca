package observe

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// Peer describes a connection to another node, as it was at one moment.
type Peer struct {
	Name     wire.Atom
	Creation uint32
	Up       bool   // false: it is being connected, and what follows is zero but for what waits and the tables
	Protocol string // name of the protocol
	Addr     string
	Hidden   bool // not to be seen by nodes()
	Since    time.Time

	Queue  int  // bytes that wait to be written, estimated
	Frames int  // signals that wait before they are encoded
	Held   bool // more waits than Distribution.Queue, or behind a long message: senders are held up

	Links    int // between processes here and there; one that is taken away counts until the peer has said so
	Monitors int // of processes there, or of the node itself, by processes here
	Watchers int // monitors of processes here by processes there
	Calls    int // calls and spawns from here that wait for an answer from there

	BytesIn, BytesOut   uint64    // of this connection, ticks included
	FramesIn, FramesOut uint64    // signals: messages, links, monitors, …; out 0 where the protocol does not tell (linkopt.Counter)
	LastIn              time.Time // when something came, as exact as the ticks: a quarter of Distribution.TickTime
}

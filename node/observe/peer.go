package observe

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// Wanted is a node that another is to be connected to, as it was at one moment: one that Distribution.Mesh lists, or one whose
// connection has ended in no orderly way within the last hour.
type Wanted struct {
	Name    wire.Atom
	Listed  bool      // by the Finder of a mesh, which connects to it; false: it is connected with the next message to it
	Up      bool      // connected. If so, what follows is zero
	Since   time.Time // when the connection was lost, or since when there has been none; zero: not known yet
	Failure string    // why the last attempt has failed or the connection has ended, cut to some 300 bytes; "": neither
	Next    time.Time // when the mesh tries next; zero: an attempt is under way, or none is planned
}

// Peer describes a connection to another node, as it was at one moment.
type Peer struct {
	Name     wire.Atom
	Creation uint32
	Up       bool   // false: it is being connected, and what follows is zero but for what waits and the tables
	Protocol string // name of the protocol
	Addr     string
	Hidden   bool // not to be seen by nodes()
	Foreign  bool // a C or Java node: see [dist.Peer.Foreign]
	Since    time.Time

	Queue  int  // bytes that wait to be written, estimated
	Frames int  // signals that wait before they are encoded
	Held   bool // more waits than Distribution.Limits.Queue, or behind a long message: senders are held up

	Links    int // between processes here and there; one that is taken away counts until the peer has said so
	Monitors int // of processes there, or of the node itself, by processes here
	Watchers int // monitors of processes here by processes there
	Calls    int // calls and spawns from here that wait for an answer from there

	BytesIn, BytesOut   uint64    // of this connection, ticks included
	FramesIn, FramesOut uint64    // signals: messages, links, monitors, …; out 0 where the protocol does not tell (links.Counter)
	LastIn              time.Time // when something came, as exact as the ticks: a quarter of Distribution.Timing.TickTime
}

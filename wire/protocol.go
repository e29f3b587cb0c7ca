package wire

import (
	"context"
	"errors"
	"net"
	"time"
)

// Protocol is a way in which two nodes talk: the whole seam between a node and
// what is on the wire, together with [Link]. What a peer cannot do, [Peer] says.
type Protocol interface {
	// Name is how the protocol is called in configurations and logs.
	Name() string
	// Dial is the side of the handshake that has opened the connection, Accept the
	// other. They own conn: after an error it is closed. ctx bounds the handshake.
	Dial(ctx context.Context, conn net.Conn, h Handshake) (Link, error)
	Accept(ctx context.Context, conn net.Conn, h Handshake) (Link, error)
}

// Handshake is what a node brings into a handshake.
type Handshake struct {
	Local  NodeID
	Hidden bool // this node is not to be seen by nodes()
	Peer   Atom // who is meant to answer, where this node has dialled
	// Cookies returns what a peer must prove to know, and what this node proves to
	// know. It is asked when the peer's name is known.
	Cookies func(peer Atom) (in, out string)
	// Admit decides about an incoming connection when the peer's name is known, and
	// before it has proved anything: nothing may be changed on its account.
	// Nil: everybody is let in.
	Admit func(peer NodeID) Verdict
	// Insist is asked when the answer to Dial is [Alive]: whether to go on. It is
	// false if this node has the link by now. Nil: go on.
	Insist func(peer NodeID) bool
	// NameFor chooses a name for a peer that asks for one. Nil: it is refused.
	NameFor func(host string) (NodeID, bool)
	Limits  LinkLimits
}

// Verdict is the answer to an incoming connection.
type Verdict uint8

const (
	Welcome      Verdict = iota // go on
	Simultaneous                // go on; this node gives up its own attempt
	Busy                        // this node's own attempt goes on in its place
	NotAllowed                  // this peer is not wanted
	Alive                       // there is a link already; the peer may insist
)

// Why a handshake has failed, as far as a node acts on it; errors.Is finds these
// in what Dial and Accept return, whose text says what was said and expected.
var (
	// ErrBusy: another connection between the two goes on in place of this one.
	ErrBusy = errors.New("wire: another connection goes on")
	// ErrNotAllowed: one of the two does not want the other, or cannot do with it.
	ErrNotAllowed = errors.New("wire: not allowed")
	// ErrCookie: one of the two does not know the other's cookie.
	ErrCookie = errors.New("wire: wrong cookie")
	// ErrPeerName: a name that was not asked for, or is none.
	ErrPeerName = errors.New("wire: wrong name")
	// ErrPeerProtocol: what came does not belong to the protocol.
	ErrPeerProtocol = errors.New("wire: protocol violated")
)

// LinkLimits bound what a peer can make a link hold.
type LinkLimits struct {
	Message   int           // bytes of one message, default 256 MiB
	Fragments int           // messages that are under way in fragments at a time, default 64
	Timeout   time.Duration // for each step of the handshake, default 7 s
}

// Link is a connection between two nodes after the handshake. Read is for one
// goroutine, all other methods but Close are for one other.
type Link interface {
	Peer() Peer
	// Read returns the next signal. Ticks are not returned, but counted by Received.
	// After an error the link is of no more use.
	Read() (Frame, error)
	// Write encodes a signal into the link's buffer, or reports why it cannot be:
	// an [EncodeError] leaves the link as it was; any other error ends it.
	Write(f *Frame) error
	// Buffered returns how many bytes wait for Flush.
	Buffered() int
	// Flush sends what has been written; Tick sends a tick if nothing has been.
	Flush() error
	Tick() error
	// Traffic returns how many bytes have come and gone, for the life sign. Any
	// goroutine may call it.
	Traffic() (in, out uint64)
	// Close ends the link from any goroutine; Read and Flush return.
	Close() error
}

// EncodeError says that a signal cannot be put on the wire: it holds a Go value
// that is no term, or is too large. The link goes on.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "wire: not sent: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }

// Peer is the node at the other end of a link.
type Peer struct {
	ID       NodeID
	Hidden   bool   // it is not to be seen by nodes()
	Protocol string // name of the protocol
	Flags    uint64 // what both can do, in the protocol's own bits
	Spawn    bool   // it takes OpSpawn
	Alias    bool   // it takes messages to an alias
	Monitor  bool   // it takes OpMonitor
	Addr     string // where it is, for logs
}

package dist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
)

// Protocol is a protocol between two nodes. With [Link] it is the whole interface between
// a node and what is on the wire. [Peer] says what a peer can do.
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
	Local  wire.NodeID
	Hidden bool      // this node is not to be seen by nodes()
	Client bool      // this node is no member of the cluster: see [Peer]
	Peer   wire.Atom // the node that must answer, where this node has dialled
	// Cookies returns the cookie that a peer must prove to know, and the one that this node
	// proves to know. It is called when the peer's name is known.
	Cookies func(peer wire.Atom) (in, out string)
	// Accept takes the proof of an incoming connection where it is by none of Cookies and OldCookies: knows reports
	// whether the peer has proved to know a cookie. It returns that cookie, by which this node proves itself in
	// turn. If ok is false the peer knows none that is accepted. Nil: there are no further ones.
	Accept func(peer wire.Atom, knows func(cookie string) bool) (out string, ok bool)
	// OldCookies returns cookies that may be used in place of both, while a cluster changes its
	// cookie: a peer that has dialled may know one of them, and gets the proof by the same one.
	// Dial tries them in order, each over a connection of Redial, as long as the error is
	// ErrCookie. Nil: there are none.
	OldCookies func(peer wire.Atom) []string
	// Admit decides about an incoming connection when the peer's name is known, and
	// before it has proved anything: it must not change any state. For a peer that
	// resumes an interrupted link only NotAllowed counts.
	// Nil: every peer is admitted.
	Admit func(peer wire.NodeID) Verdict
	// Proved is called for an incoming connection that is to be a new link, when the peer
	// has proved that it knows the cookie, and before the peer learns that it is admitted. An
	// error refuses it; errors.Is finds ErrBusy or ErrNotAllowed in it. It may wait until
	// the handshake's context ends. Nil: no peer is refused.
	Proved func(peer wire.NodeID) error
	// Insist is asked when the answer to Dial is [Alive]: whether to go on. It is
	// false if this node has the link by now. Nil: go on.
	Insist func(peer wire.NodeID) bool
	// NameFor chooses a name for a peer that asks for one. Nil: it is refused.
	NameFor func(host string) (wire.NodeID, bool)
	// Named has a node that dials ask the peer for a name, as erl does with -name undefined. Local.Name is undefined@HOST then,
	// and Named is called with what the peer has chosen, before the link is there; it may be called again, for another
	// attempt of the same Dial. Of Erlang's protocol. Nil: Local is the node's name.
	Named func(id wire.NodeID)
	// Grace is how long this node would wait, before it gives a link up, for a new
	// connection to the same peer to take the place of a broken one, so that nothing
	// is lost. Both want it, or there is none. 0: the end of the connection is the
	// end of the link.
	Grace time.Duration
	// Redial makes a new connection to the peer, for Grace and OldCookies; nil where the peer
	// has dialled. It is called after Dial has returned, too.
	Redial func(ctx context.Context) (net.Conn, error)
	// Silence is how long nothing may come from the peer until the connection counts
	// as broken, for Grace. 0: for ever.
	Silence time.Duration
	Limits  LinkLimits
	// Budget returns what all links to a peer may take together for messages of which
	// a part has come. A link that may take no more ends. Nil: there is only Limits.
	Budget func(peer wire.Atom) Budget
}

// Verdict is the answer to an incoming connection.
type Verdict uint8

const (
	Welcome      Verdict = iota // go on
	Simultaneous                // go on; this node gives up its own attempt
	Busy                        // this node's own attempt goes on in its place
	NotAllowed                  // this peer is not wanted
	Alive                       // there is a link already; the peer may insist
	Full                        // this node takes no more connections for now; a session that there is goes on
)

// Why a handshake has failed, as far as a node acts on it; errors.Is finds these
// in what Dial and Accept return. The text says what was received and what was expected.
var (
	// ErrBusy: another connection between the two goes on in place of this one.
	ErrBusy = errors.New("dist: another connection to the peer is used instead")
	// ErrNotAllowed: one of the two does not want the other, or cannot do with it.
	ErrNotAllowed = errors.New("dist: not allowed")
	// ErrFull: the node takes no more connections for now; a later attempt may succeed. It is an ErrNotAllowed. Only the native
	// protocol says it: nodes of Erlang's get ErrNotAllowed.
	ErrFull = fmt.Errorf("%w: no more connections are accepted for now", ErrNotAllowed)
	// ErrCookie: one of the two does not know the other's cookie.
	ErrCookie = errors.New("dist: wrong cookie")
	// ErrPeerName: a name that was not asked for, or is none.
	ErrPeerName = errors.New("dist: the peer has a different name")
	// ErrPeerProtocol: what came does not belong to the protocol.
	ErrPeerProtocol = errors.New("dist: protocol violated")
)

// LinkLimits bound what a peer can make a link hold. A field that is zero or less
// has its default.
type LinkLimits struct {
	Message   int           // bytes of one message, default 256 MiB and 64 KiB for what is around a binary of that
	Fragments int           // messages that are under way in fragments at a time, default 64
	Partial   int           // bytes that these may take together, at least Message; default twice that
	Timeout   time.Duration // for each step of the handshake, default 7 s, as OTP's net_setuptime
}

// WithDefaults returns l with its defaults filled in.
func (l LinkLimits) WithDefaults() LinkLimits {
	if l.Message <= 0 {
		l.Message = 256<<20 + 64<<10
	}
	if l.Fragments <= 0 {
		l.Fragments = 64
	}
	if l.Partial <= 0 {
		l.Partial = 2 * l.Message
	}
	l.Partial = max(l.Partial, l.Message)
	if l.Timeout <= 0 {
		l.Timeout = 7 * time.Second
	}
	return l
}

// Link is a connection between two nodes after the handshake. Read is for one
// goroutine at a time, and so is Flush; Write is for any number.
type Link interface {
	Peer() Peer
	// Read puts the next signal into f, all of it. Ticks are not returned, but
	// counted by Traffic. After an error the link is of no more use.
	Read(f *Frame) error
	// Write encodes a signal into the link's buffer and returns how many bytes wait
	// for the next Flush, or reports why it does not: an [wire.EncodeError] or [ErrLater]
	// leaves the link as it was; any other error ends it. It does not block.
	//
	// A long message leaves in parts. Until Flush has sent its last one, Write answers
	// ErrLater to further signals from the same sender (Frame.From), so that none of
	// them overtakes it; those of others do. After ErrLater the caller must keep the order
	// of that sender's signals.
	Write(f *Frame) (buffered int, err error)
	// Flush sends what has been written and then one part of each long message. left
	// is how many bytes of those wait for further calls. If there is nothing to send,
	// it sends a tick, where one is wanted.
	Flush(tick bool) (left int, err error)
	// Traffic returns how many bytes have come and gone, for the life sign. Any
	// goroutine may call it.
	Traffic() (in, out uint64)
	// Close ends the link from any goroutine; Read and Flush return.
	Close() error
}

// ErrLater is Write's answer to a signal of a sender whose long message is under
// way.
var ErrLater = errors.New("dist: the sender's previous long message is not sent completely yet")

// Peer is the node at the other end of a link.
type Peer struct {
	ID       wire.NodeID
	Hidden   bool   // it is not to be seen by nodes()
	Client   bool   // it is a tool that asks this node something, and no member of the cluster
	Protocol string // name of the protocol
	Flags    uint64 // what both can do, in the protocol's own bits
	Spawn    bool   // it takes OpSpawn
	Alias    bool   // it takes messages to an alias
	Monitor  bool   // it takes OpMonitor, OpDemonitor and OpDown; else Write drops them, and a monitor watches the connection
	Acks     bool   // it answers each OpUnlink by OpUnlinkAck, and takes them; else Write drops them, and an OpUnlink holds at once
	Receipts bool   // it answers an OpSend that has an ID by OpReceipt
	Addr     string // where it is, for logs
}

// Foreign reports whether the peer is less than a node of OTP or of this kind, as those are that C and Java programs make
// with ei and JInterface: it is hidden, and nothing can be spawned there. Such a program may take what comes unasked for the
// answer to its question, so nothing is sent to it but what it asks for and what processes here send.
func (p Peer) Foreign() bool { return p.Hidden && !p.Spawn }

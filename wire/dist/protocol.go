package dist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
)

// Protocol is a protocol between two nodes. Protocol and [Link] are the whole interface between a node and the wire.
type Protocol interface {
	// Name returns the protocol's name in configurations and logs.
	Name() string
	// Dial runs the handshake on the side that has opened the connection, Accept on the other. They own conn and close it
	// on error. ctx bounds the handshake.
	Dial(ctx context.Context, conn net.Conn, h Handshake) (Link, error)
	Accept(ctx context.Context, conn net.Conn, h Handshake) (Link, error)
}

// Handshake is a node's input to a handshake.
type Handshake struct {
	Local  wire.NodeID
	Hidden bool      // this node must not appear in nodes()
	Client bool      // this node is not a member of the cluster: see [Peer]
	Peer   wire.Atom // the node that must answer, if this node has dialed
	// Cookies returns the cookie that the peer must prove, and the one that this node proves. It is called when the peer's
	// name is known.
	Cookies func(peer wire.Atom) (in, out string)
	// Accept checks the proof of an incoming connection if it matches neither Cookies nor OldCookies: knows reports whether
	// the peer has proved a cookie. Accept returns that cookie, which this node then proves in turn; ok is false if the
	// peer knows no accepted cookie. Nil means no further cookies.
	Accept func(peer wire.Atom, knows func(cookie string) bool) (out string, ok bool)
	// OldCookies returns cookies that may be used instead of both while a cluster changes its cookie: a peer that has
	// dialed may prove one of them, and this node then proves the same one. Dial tries them in order, each over a
	// connection of Redial, while the error is ErrCookie. May be nil.
	OldCookies func(peer wire.Atom) []string
	// Admit decides about an incoming connection when the peer's name is known, but before the peer has proved anything: it
	// must not change any state. For a peer that resumes an interrupted link only NotAllowed has an effect. If nil, every
	// peer is admitted.
	Admit func(peer wire.NodeID) Verdict
	// Proved is called for an incoming connection that will become a new link, after the peer has proved the cookie and
	// before it is told that it is admitted. An error refuses the peer; errors.Is finds ErrBusy or ErrNotAllowed in it.
	// Proved may block until the handshake's context ends. If nil, no peer is refused.
	Proved func(peer wire.NodeID) error
	// Insist is called when the peer answers Dial with [Alive], and reports whether to continue. It returns false if this
	// node has the link by now. If nil, Dial continues.
	Insist func(peer wire.NodeID) bool
	// NameFor chooses a name for a peer that requests one. If nil, such a peer is refused.
	NameFor func(host string) (wire.NodeID, bool)
	// Named makes a dialing node request a name from the peer, like erl with -name undefined. Local.Name is then
	// undefined@HOST, and Named is called with the name that the peer has chosen, before the link exists; it may be called
	// again for another attempt of the same Dial. Only for Erlang's protocol. If nil, Local is the node's name.
	Named func(id wire.NodeID)
	// Grace is how long a link survives a broken connection while a new connection to the same peer is made, so that
	// nothing is lost. Both sides must request it. If 0, the link ends with its connection.
	Grace time.Duration
	// Redial makes a new connection to the peer, for Grace and OldCookies; nil if the peer has dialed. It is also called
	// after Dial has returned.
	Redial func(ctx context.Context) (net.Conn, error)
	// Silence is the time without data from the peer after which the connection counts as broken, for Grace. 0 means never.
	Silence time.Duration
	Limits  LinkLimits
	// Budget returns the memory that all links to a peer may use together for partly received messages. A link that would
	// exceed it ends. If nil, only Limits apply.
	Budget func(peer wire.Atom) Budget
}

// Verdict is the answer to an incoming connection.
type Verdict uint8

const (
	Welcome      Verdict = iota // continue
	Simultaneous                // continue; this node gives up its own attempt
	Busy                        // this node's own attempt continues instead
	NotAllowed                  // this peer is not allowed
	Alive                       // a link already exists; the peer may insist
	Full                        // this node accepts no more connections for now; an existing session may continue
)

// The causes of a failed handshake that a node acts on. errors.Is finds them in the errors of Dial and Accept, whose text
// says what was received and what was expected.
var (
	// ErrBusy means that another connection between the two nodes is used instead.
	ErrBusy = errors.New("dist: another connection to the peer is used instead")
	// ErrNotAllowed means that one node does not allow the other, or is not compatible with it.
	ErrNotAllowed = errors.New("dist: not allowed")
	// ErrFull means that the node accepts no more connections for now; a later attempt may succeed. It is an ErrNotAllowed.
	// Only the native protocol reports it: with Erlang's protocol nodes get ErrNotAllowed.
	ErrFull = fmt.Errorf("%w: no more connections are accepted for now", ErrNotAllowed)
	// ErrCookie means that one node does not know the other's cookie.
	ErrCookie = errors.New("dist: wrong cookie")
	// ErrPeerName means that the peer has an unexpected or invalid name.
	ErrPeerName = errors.New("dist: the peer has a different name")
	// ErrPeerProtocol means that the received data violates the protocol.
	ErrPeerProtocol = errors.New("dist: protocol violated")
)

// LinkLimits bound the memory that a peer can make a link use. A field that is zero or negative has its default.
type LinkLimits struct {
	Message   int           // bytes of one message, default 256 MiB plus 64 KiB for the overhead around a binary of that size
	Fragments int           // concurrent fragmented messages, default 64
	Partial   int           // total bytes of these, at least Message; default twice that
	Timeout   time.Duration // for each step of the handshake, default 7 s, as OTP's net_setuptime
}

// WithDefaults returns l with the defaults filled in.
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
	// Read overwrites f with the next signal. Ticks are not returned, but counted by Traffic. After an error the link is
	// unusable.
	Read(f *Frame) error
	// Write encodes a signal into the link's buffer and returns the number of bytes that wait for the next Flush. A
	// [wire.EncodeError] or [ErrLater] leaves the link unchanged; any other error ends it. Write does not block.
	//
	// A long message is sent in fragments. Until Flush has sent the last one, Write returns ErrLater for further signals
	// from the same sender (Frame.From), so that they do not overtake it; those of other senders may. After ErrLater the
	// caller must keep the order of that sender's signals.
	Write(f *Frame) (buffered int, err error)
	// Flush sends the buffer and then one fragment of each long message. left is the number of bytes of long messages that
	// remain. If there is nothing to send and tick is true, it sends a tick.
	Flush(tick bool) (left int, err error)
	// Traffic returns the number of bytes received and sent, for detecting dead peers. Any goroutine may call it.
	Traffic() (in, out uint64)
	// Close ends the link; Read and Flush return. Any goroutine may call it.
	Close() error
}

// ErrLater is returned by Write for a signal of a sender whose long message is not sent completely.
var ErrLater = errors.New("dist: the sender's previous long message is not sent completely yet")

// Peer is the node at the other end of a link.
type Peer struct {
	ID       wire.NodeID
	Hidden   bool   // it must not appear in nodes()
	Client   bool   // it is a tool that makes requests, not a member of the cluster
	Protocol string // name of the protocol
	Flags    uint64 // common capabilities, in the protocol's bits
	Spawn    bool   // it supports OpSpawn
	Alias    bool   // it supports messages to an alias
	Monitor  bool   // it supports OpMonitor, OpDemonitor and OpDown; else Write drops them, and a monitor watches the connection
	Acks     bool   // it supports OpUnlinkAck in both directions; else Write drops it, and an OpUnlink takes effect at once
	Receipts bool   // it answers an OpSend with an ID by OpReceipt
	Addr     string // its address, for logs
}

// Foreign reports whether the peer has fewer capabilities than an OTP or Go node, like those of C and Java programs (ei,
// JInterface): it is hidden and does not support spawns. Such a program may mistake an unsolicited message for the answer
// to its request, so a node sends it only answers and the messages of processes.
func (p Peer) Foreign() bool { return p.Hidden && !p.Spawn }

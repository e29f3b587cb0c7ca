package wire

import (
	"fmt"
	"strconv"
	"unique"
)

// PID is a process identifier: a node's name, that node's creation, and a number that this incarnation of the node never
// reuses. It is comparable and two words long. The zero PID refers to no process.
type PID struct {
	node internedNode
	id   uint64 // serial<<32 | id, as Erlang prints <X.id.serial>
}

// Origin mints identifiers for one incarnation of a node. A decoder keeps one for each node that occurs, so that interning
// happens once per connection.
type Origin struct{ node internedNode }

// NewOrigin returns the Origin of the node incarnation id.
func NewOrigin(id NodeID) Origin { return Origin{unique.Make(id)} }

// NodeID returns the node incarnation that o mints for.
func (o Origin) NodeID() NodeID {
	if o.node == (internedNode{}) {
		return NodeID{}
	}
	return o.node.Value()
}

// PID returns the identifier number id of o's node: the low 32 bits are Erlang's ID, the high 32 bits the serial.
func (o Origin) PID(id uint64) PID { return PID{o.node, id} }

// Minted reports whether p belongs to o's node and creation.
func (o Origin) Minted(p PID) bool { return p.node == o.node }

// IsZero reports whether p is the zero PID.
func (p PID) IsZero() bool { return p == PID{} }

// Node returns the name of p's node, "" for the zero PID.
func (p PID) Node() Atom { return p.Origin().NodeID().Name }

// Creation returns the creation of p's node, 0 for the zero PID.
func (p PID) Creation() uint32 { return p.Origin().NodeID().Creation }

// Origin returns the Origin that minted p.
func (p PID) Origin() Origin { return Origin{p.node} }

// Number returns serial<<32 | id.
func (p PID) Number() uint64 { return p.id }

// String formats p like Erlang's remote pids, but with the node's name instead of its number: <go@host.42.0>.
func (p PID) String() string {
	if p.IsZero() {
		return "<nobody>"
	}
	b := append(make([]byte, 0, 64), '<')
	b = append(append(b, p.Node()...), '.')
	b = append(strconv.AppendUint(b, uint64(uint32(p.id)), 10), '.')
	return string(append(strconv.AppendUint(b, p.id>>32, 10), '>'))
}

// MaxRefWords is the longest reference, in 32-bit words (OTP 24 and newer).
const MaxRefWords = 5

// Ref is a reference: a value that its node makes only once. It is comparable; the zero Ref is not a reference. Aliases and
// monitors are identified by a Ref.
type Ref struct {
	node internedNode
	w    [MaxRefWords]uint32
	n    uint8
}

// Ref returns the reference of o's node with the given words (1 to
// [MaxRefWords]); more are cut off.
func (o Origin) Ref(words ...uint32) Ref {
	r := Ref{node: o.node}
	r.n = uint8(copy(r.w[:], words))
	return r
}

// RefOf returns the three-word reference with the 64-bit number id. This runtime makes all of its references that way.
func (o Origin) RefOf(id uint64) Ref {
	return Ref{node: o.node, w: [MaxRefWords]uint32{uint32(id) & 0x3ffff, uint32(id >> 18), uint32(id >> 50)}, n: 3}
}

// Number returns the 64-bit number of a reference made by [Origin.RefOf].
func (r Ref) Number() uint64 {
	return uint64(r.w[0]&0x3ffff) | uint64(r.w[1])<<18 | uint64(r.w[2])<<50
}

// IsZero reports whether r is the zero Ref.
func (r Ref) IsZero() bool { return r.n == 0 && r.node == internedNode{} }

// Node returns the name of the node that made r.
func (r Ref) Node() Atom { return r.Origin().NodeID().Name }

// Creation returns the creation of the node that made r.
func (r Ref) Creation() uint32 { return r.Origin().NodeID().Creation }

// Origin returns the Origin that minted r.
func (r Ref) Origin() Origin { return Origin{r.node} }

// AppendWords appends the words of r to dst, least significant first.
func (r Ref) AppendWords(dst []uint32) []uint32 { return append(dst, r.w[:r.n]...) }

// String formats r like Erlang, with the node's name: #Ref<node.w2.w1.w0>.
func (r Ref) String() string {
	s := "#Ref<" + string(r.Node())
	for i := int(r.n) - 1; i >= 0; i-- {
		s += fmt.Sprintf(".%d", r.w[i])
	}
	return s + ">"
}

// Port is an Erlang port identifier.
type Port struct {
	node internedNode
	id   uint64
}

// Port returns the port number id of o's node.
func (o Origin) Port(id uint64) Port { return Port{o.node, id} }

// Node returns the name of the node that owns p.
func (p Port) Node() Atom { return p.Origin().NodeID().Name }

// Creation returns the creation of the node that owns p.
func (p Port) Creation() uint32 { return p.Origin().NodeID().Creation }

// Origin returns the Origin that minted p.
func (p Port) Origin() Origin { return Origin{p.node} }

// Number returns the 64-bit number of p.
func (p Port) Number() uint64 { return p.id }

// String prints p as Erlang does: #Port<node.7>.
func (p Port) String() string { return fmt.Sprintf("#Port<%s.%d>", p.Node(), p.id) }

// Equal reports whether o and x mint for the same incarnation of the same node.
func (o Origin) Equal(x Origin) bool { return o == x }

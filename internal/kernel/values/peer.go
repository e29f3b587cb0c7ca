package values

import (
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
)

// Append writes a value for a Go node. It implements erldist.Values, like Decode.
func (c *Codec) Append(dst []byte, value any) ([]byte, error) { return c.append(dst, value, nil) }

func (c *Codec) append(dst []byte, value any, peer *pack.Shapes) ([]byte, error) {
	e := pack.Encoder{Types: &c.Types.Codec, Foreign: c.Foreign, Peer: peer}
	return e.Append(dst, value)
}

// Decode reads a value of another Go node.
func (c *Codec) Decode(b []byte, host any) (value any, rest []byte, err error) {
	d := pack.Decoder{Types: &c.Types.Codec, Host: host, Strict: true}
	if value, rest, err = d.Term(b); err != nil {
		value, _, _ = d.Rescue(b)
	}
	return value, rest, err
}

var _ links.ForPeers = (*Codec)(nil)

// ForPeer implements links.ForPeers.
func (c *Codec) ForPeer() links.PeerValues { return &forPeer{Codec: c} }

// forPeer encodes the values that are sent to one peer.
type forPeer struct {
	*Codec
	told pack.Shapes
}

// Append implements links.PeerValues, like the other methods.
func (v *forPeer) Append(dst []byte, value any) ([]byte, error) { return v.append(dst, value, &v.told) }

// AppendShape appends what is sent to the peer about a type.
func (v *forPeer) AppendShape(dst []byte, n int) (_ []byte, more bool) {
	return v.Types.Codec.AppendShape(dst, n)
}

// Put stores what the peer has sent about a type.
func (v *forPeer) Put(shape []byte) error { return v.told.Put(shape) }

package values

import (
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
)

// Append writes a value for a node of this kind. It is part of erldist.Values, and so is Decode.
func (c *Codec) Append(dst []byte, value any) ([]byte, error) { return c.append(dst, value, nil) }

func (c *Codec) append(dst []byte, value any, peer *pack.Shapes) ([]byte, error) {
	e := pack.Encoder{Types: &c.Types.Codec, Foreign: c.Foreign, Peer: peer}
	return e.Append(dst, value)
}

// Decode reads a value of another node of this kind.
func (c *Codec) Decode(b []byte, host any) (value any, rest []byte, err error) {
	d := pack.Decoder{Types: &c.Types.Codec, Host: host, Strict: true}
	if value, rest, err = d.Term(b); err != nil {
		value, _, _ = d.Rescue(b)
	}
	return value, rest, err
}

var _ links.ForPeers = (*Codec)(nil)

// ForPeer is part of links.ForPeers.
func (c *Codec) ForPeer() links.PeerValues { return &forPeer{Codec: c} }

// forPeer are the values that are sent to one peer.
type forPeer struct {
	*Codec
	told pack.Shapes
}

// Append is part of links.PeerValues, and so are the others.
func (v *forPeer) Append(dst []byte, value any) ([]byte, error) { return v.append(dst, value, &v.told) }

// AppendShape appends what the peer is told of a type.
func (v *forPeer) AppendShape(dst []byte, n int) (_ []byte, more bool) {
	return v.Types.Codec.AppendShape(dst, n)
}

// Put takes what the peer has told.
func (v *forPeer) Put(shape []byte) error { return v.told.Put(shape) }

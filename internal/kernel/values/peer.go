package values

import "github.com/actornode/actornode/internal/wire/pack"

// Append writes a value for a Go node. It implements erldist.Values, like Decode.
func (c *Codec) Append(dst []byte, value any) ([]byte, error) {
	e := pack.Encoder{Types: &c.Types.Codec, Foreign: c.Foreign}
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

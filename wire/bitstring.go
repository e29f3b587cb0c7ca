package wire

import "unsafe"

// Bitstring is an Erlang bitstring of any number of bits, such as <<5:3>>. It is comparable and immutable; the unused bits
// of its last byte are zero. A Bitstring of whole bytes is the same term as the []byte, and decoders return the []byte.
type Bitstring struct {
	data string // (bits+7)/8 bytes
	bits int
}

// NewBitstring returns the first n bits of b. A negative n counts as 0, and an n beyond the end of b as all of b, so every
// argument gives a valid Bitstring.
func NewBitstring(b []byte, n int) Bitstring {
	n = max(n, 0)
	if n >= 8*len(b) {
		return Bitstring{string(b), 8 * len(b)}
	}
	b = b[:(n+7)/8]
	spare := (8 - n%8) % 8
	if spare == 0 || b[len(b)-1]<<(8-spare) == 0 {
		return Bitstring{string(b), n}
	}
	c := append([]byte(nil), b...)
	c[len(c)-1] &= 0xff << spare
	return Bitstring{string(c), n}
}

// BitLen returns the length of b in bits.
func (b Bitstring) BitLen() int { return b.bits }

// Bytes returns a copy of the bits, highest bit first, with the last byte padded with zero bits.
func (b Bitstring) Bytes() []byte { return []byte(b.data) }

// String prints b as [Format] does.
func (b Bitstring) String() string { return Format(b) }

// bitsOf returns the padded bytes of a binary or bitstring and its length in
// bits. data may share a []byte's memory: read it, but do not keep it.
func bitsOf(t any) (data string, bits int) {
	switch t := t.(type) {
	case string:
		return t, 8 * len(t)
	case []byte:
		return unsafe.String(unsafe.SliceData(t), len(t)), 8 * len(t)
	case Bitstring:
		return t.data, t.bits
	}
	return "", 0
}

package epmdserver

import (
	"encoding/binary"
	"slices"
)

// NodeType is the kind of node of a registration.
type NodeType byte

// Types of nodes.
const (
	Visible NodeType = 77 // an ordinary node; sent by every erl, hidden or not
	Hidden  NodeType = 72 // a C node or other library that is not part of the mesh
)

// Version is the version of the distribution protocol since OTP 23. A port
// mapper gives 32-bit creations to nodes that know it, 2-bit ones to others.
const Version = 6

// Sizes that a port mapper accepts (measured at OTP 25).
const (
	MaxNameRunes = 255  // of a name, in characters
	MaxName      = 1020 // of a name, in bytes
	MaxExtra     = 1020 // of a registration's extra, in bytes
	MaxRequest   = 3057 // of a request, in bytes, its length field not counted
)

// MaxFrame is the maximum value of a request's length field.
const MaxFrame = 1<<16 - 1

// Registration is a port mapper's record of a live node.
//
// In a request (after its tag) and in an answer to [OpPort] (after tag and result) its layout is
//
//	2     1     1         2        2       2     Nlen  2     Elen
//	Port  Type  Protocol  Highest  Lowest  Nlen  Name  Elen  Extra
//
// but for the Name, which comes as is in both.
type Registration struct {
	Name     string // the node's name before the @, UTF-8
	Port     uint16 // where the node listens for distribution, TCP
	Type     NodeType
	Protocol byte   // 0 is TCP over IPv4 or IPv6, and the only one known
	Highest  uint16 // highest distribution version
	Lowest   uint16 // lowest distribution version
	Extra    []byte // for others to read; real port mappers take at most MaxExtra bytes
}

// Fixed is the size of a registration without name and extra.
const Fixed = 2 + 1 + 1 + 2 + 2 + 2 + 2

func (r Registration) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, r.Port)
	b = append(b, byte(r.Type), r.Protocol)
	b = binary.BigEndian.AppendUint16(b, r.Highest)
	b = binary.BigEndian.AppendUint16(b, r.Lowest)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Name)))
	b = append(b, r.Name...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Extra)))
	return append(b, r.Extra...)
}

// parseRegistration reads a registration at the beginning of b and returns the rest. The only possible error is that b is
// too short.
func parseRegistration(b []byte) (r Registration, rest []byte, err error) {
	const head = Fixed - 2
	if len(b) < head {
		return r, b, ErrShort
	}
	name := int(binary.BigEndian.Uint16(b[8:]))
	if len(b) < Fixed+name {
		return r, b, ErrShort
	}
	extra := int(binary.BigEndian.Uint16(b[head+name:]))
	if len(b) < Fixed+name+extra {
		return r, b, ErrShort
	}
	r = Registration{
		Name:     string(b[head : head+name]),
		Port:     binary.BigEndian.Uint16(b),
		Type:     NodeType(b[2]),
		Protocol: b[3],
		Highest:  binary.BigEndian.Uint16(b[4:]),
		Lowest:   binary.BigEndian.Uint16(b[6:]),
	}
	rest = b[Fixed+name:]
	if extra > 0 {
		r.Extra = slices.Clone(rest[:extra])
	}
	return r, rest[extra:], nil
}

// Wide reports whether the node gets a 32-bit creation in an ALIVE2_X_RESP.
func (r Registration) Wide() bool { return r.Highest >= Version }

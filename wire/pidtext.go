package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// MarshalText implements encoding.TextMarshaler. The text is go@host:42.0.1z141z3, that is NODE:ID.SERIAL.CREATION with the
// creation in base 36. Unlike [PID.String] it includes the incarnation of the node, so that it never refers to another
// process when it is read later or elsewhere. It needs no quotes in a shell. The zero PID is the empty text.
func (p PID) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return []byte{}, nil
	}
	return fmt.Appendf(nil, "%s:%d.%d.%s", p.Node(), uint32(p.id), uint32(p.id>>32),
		strconv.FormatUint(uint64(p.Creation()), 36)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: it reads the format of MarshalText.
func (p *PID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = PID{}
		return nil
	}
	colon := strings.LastIndexByte(string(text), ':') // the host may be an IPv6 address
	parts := strings.Split(string(text[colon+1:]), ".")
	if colon < 1 || len(parts) != 3 {
		return fmt.Errorf("wire: %.300q is not a pid: want NODE:ID.SERIAL.CREATION", text)
	}
	id, err1 := strconv.ParseUint(parts[0], 10, 32)
	serial, err2 := strconv.ParseUint(parts[1], 10, 32)
	creation, err3 := strconv.ParseUint(parts[2], 36, 32)
	if err1 != nil || err2 != nil || err3 != nil {
		return fmt.Errorf("wire: %.300q is not a pid: ID and SERIAL are decimal, CREATION is in base 36, each of 32 bits", text)
	}
	*p = NewOrigin(NodeID{Name: Atom(text[:colon]), Creation: uint32(creation)}).PID(serial<<32 | id)
	return nil
}

// MarshalText implements encoding.TextMarshaler: the text of [Ref.String], or the empty text for the zero Ref.
func (r Ref) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return []byte{}, nil
	}
	return []byte(r.String()), nil
}

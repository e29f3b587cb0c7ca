package epmdserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors of parsers and of Append.
var (
	// ErrShort means that the message is incomplete.
	ErrShort = errors.New("epmd: incomplete")
	// ErrMalformed means that the bytes violate the protocol.
	ErrMalformed = errors.New("epmd: malformed")
	// ErrTooLong means that a value does not fit its field, or an answer exceeds its limit.
	ErrTooLong = errors.New("epmd: too long")
)

// Op is the tag of a request.
type Op byte

// Tags of requests.
const (
	OpDump  Op = 100 // DUMP_REQ: all names, as text
	OpKill  Op = 107 // KILL_REQ: end the port mapper
	OpNames Op = 110 // NAMES_REQ: the live names, as text
	OpStop  Op = 115 // STOP_REQ: forget a name; according to the documentation, for tests only
	OpAlive Op = 120 // ALIVE2_REQ: register, for as long as the connection is open
	OpPort  Op = 122 // PORT_PLEASE2_REQ: look a name up
)

// String returns OTP's name of o.
func (o Op) String() string {
	switch o {
	case OpDump:
		return "DUMP_REQ"
	case OpKill:
		return "KILL_REQ"
	case OpNames:
		return "NAMES_REQ"
	case OpStop:
		return "STOP_REQ"
	case OpAlive:
		return "ALIVE2_REQ"
	case OpPort:
		return "PORT_PLEASE2_REQ"
	}
	return fmt.Sprintf("request %d", byte(o))
}

// Request is a request to a port mapper: one per connection, prefixed with its length.
//
//	2       1          Length-1
//	Length  OpNames
//	Length  OpDump
//	Length  OpKill
//	Length  OpPort     Name
//	Length  OpStop     Name
//	Length  OpAlive    Port:2 Type:1 Protocol:1 Highest:2 Lowest:2 Nlen:2 Name Elen:2 Extra
//
// Source: "EPMD Protocol" in OTP's Distribution Protocol.
type Request struct {
	Op           Op
	Name         string       // of OpPort and OpStop
	Registration Registration // of OpAlive
}

// Append appends r to b, with its length prefix. It returns ErrTooLong if the length does not fit in 16 bits.
func (r Request) Append(b []byte) ([]byte, error) {
	n := 1
	switch r.Op {
	case OpPort, OpStop:
		n += len(r.Name)
	case OpAlive:
		n += Fixed + len(r.Registration.Name) + len(r.Registration.Extra)
	}
	if n > MaxFrame {
		return b, fmt.Errorf("%w: %v of %d bytes", ErrTooLong, r.Op, n)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(n))
	b = append(b, byte(r.Op))
	switch r.Op {
	case OpPort, OpStop:
		b = append(b, r.Name...)
	case OpAlive:
		b = r.Registration.append(b)
	}
	return b, nil
}

// ParseRequest reads the complete body of a request, without its length. It accepts and refuses (ErrMalformed) the same
// requests as OTP's port mapper, except for the differences that package epmdclient lists:
//
//   - Bytes after the last field of OpAlive, OpNames, OpDump and OpKill are
//     ignored. A name of OpAlive that is empty or holds a NUL is malformed.
//   - One NUL after the name of OpPort is ignored. The name must be UTF-8 of
//     1 to [MaxNameRunes] characters without NUL.
//   - The name of OpStop ends at the first NUL, and only its end is optional.
//
// It does not check whether a name of OpAlive is UTF-8 and short enough: such requests get an answer, while malformed ones
// do not.
func ParseRequest(body []byte) (Request, error) {
	if len(body) == 0 {
		return Request{}, fmt.Errorf("%w: empty request", ErrMalformed)
	}
	r := Request{Op: Op(body[0])}
	body = body[1:]
	switch r.Op {
	case OpNames, OpDump, OpKill:
		return r, nil
	case OpStop:
		if len(body) == 0 {
			return r, fmt.Errorf("%w: %v without a name", ErrMalformed, r.Op)
		}
		name, _, _ := bytes.Cut(body, []byte{0})
		r.Name = string(name)
		return r, nil
	case OpPort:
		r.Name = string(bytes.TrimSuffix(body, []byte{0}))
		if n := utf8.RuneCountInString(r.Name); n == 0 || n > MaxNameRunes ||
			!utf8.ValidString(r.Name) || strings.ContainsRune(r.Name, 0) {
			return r, fmt.Errorf("%w: name %.40q in %v", ErrMalformed, r.Name, r.Op)
		}
		return r, nil
	case OpAlive:
		reg, _, err := parseRegistration(body)
		if err != nil || reg.Name == "" || strings.ContainsRune(reg.Name, 0) {
			return r, fmt.Errorf("%w: %v of %d bytes", ErrMalformed, r.Op, len(body)+1)
		}
		r.Registration = reg
		return r, nil
	}
	return r, fmt.Errorf("%w: %v", ErrMalformed, r.Op)
}

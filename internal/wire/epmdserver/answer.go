package epmdserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

// Tags of answers.
const (
	tagAliveX byte = 118 // ALIVE2_X_RESP
	tagPort   byte = 119 // PORT2_RESP
	tagAlive  byte = 121 // ALIVE2_RESP
)

// ResultRefused and CreationRefused are the answer of OTP's port mapper to a refused registration.
const (
	ResultRefused   byte   = 1
	CreationRefused uint32 = 99
)

// AliveAnswer answers a registration.
//
//	1    1       4
//	118  Result  Creation    ALIVE2_X_RESP, to nodes of version 6 and later
//
//	1    1       2
//	121  Result  Creation    ALIVE2_RESP, to earlier ones
type AliveAnswer struct {
	Wide     bool   // ALIVE2_X_RESP
	Result   byte   // 0 is success
	Creation uint32 // if not Wide, only the lower 16 bits
}

// Append appends a to b.
func (a AliveAnswer) Append(b []byte) []byte {
	if a.Wide {
		return binary.BigEndian.AppendUint32(append(b, tagAliveX, a.Result), a.Creation)
	}
	return binary.BigEndian.AppendUint16(append(b, tagAlive, a.Result), uint16(a.Creation))
}

// ParseAlive reads an AliveAnswer at the beginning of b and returns the rest. It returns ErrShort if b is incomplete.
func ParseAlive(b []byte) (a AliveAnswer, rest []byte, err error) {
	const narrow, wide = 1 + 1 + 2, 1 + 1 + 4
	switch {
	case len(b) == 0:
		return a, b, ErrShort
	case b[0] == tagAliveX && len(b) >= wide:
		return AliveAnswer{Wide: true, Result: b[1], Creation: binary.BigEndian.Uint32(b[2:])}, b[wide:], nil
	case b[0] == tagAlive && len(b) >= narrow:
		return AliveAnswer{Result: b[1], Creation: uint32(binary.BigEndian.Uint16(b[2:]))}, b[narrow:], nil
	case b[0] == tagAliveX || b[0] == tagAlive:
		return a, b, ErrShort
	}
	return a, b, fmt.Errorf("%w: unexpected tag %d in the answer to %v", ErrMalformed, b[0], OpAlive)
}

// PortAnswer answers a lookup: PORT2_RESP.
//
//	1    1
//	119  Result             Result is nonzero if there is no such node
//
//	1    1
//	119  0       Port:2 Type:1 Protocol:1 Highest:2 Lowest:2 Nlen:2 Name Elen:2 Extra
type PortAnswer struct {
	Result       byte // 0 is success
	Registration Registration
}

// Append appends p to b. It returns ErrTooLong if name or extra is longer than
// 65,535 bytes.
func (p PortAnswer) Append(b []byte) ([]byte, error) {
	if len(p.Registration.Name) > MaxFrame || len(p.Registration.Extra) > MaxFrame {
		return b, fmt.Errorf("%w: name of %d, extra of %d bytes", ErrTooLong, len(p.Registration.Name), len(p.Registration.Extra))
	}
	b = append(b, tagPort, p.Result)
	if p.Result != 0 {
		return b, nil
	}
	return p.Registration.append(b), nil
}

// ParsePort reads a PortAnswer at the beginning of b and returns the rest. It returns ErrShort if b is incomplete.
func ParsePort(b []byte) (p PortAnswer, rest []byte, err error) {
	if len(b) > 0 && b[0] != tagPort {
		return p, b, fmt.Errorf("%w: unexpected tag %d in the answer to %v", ErrMalformed, b[0], OpPort)
	}
	if len(b) < 2 {
		return p, b, ErrShort
	}
	if p.Result = b[1]; p.Result != 0 {
		return p, b[2:], nil
	}
	p.Registration, rest, err = parseRegistration(b[2:])
	if err != nil {
		return PortAnswer{}, b, err
	}
	return p, rest, nil
}

// Entry is a live node in a list of names.
type Entry struct {
	Name string
	Port uint16
}

// NamesAnswer answers a request for names. It ends with the connection.
//
//	4         then a line of text for each live node, the newest first
//	EpmdPort  "name " Name " at port " Port "\n"
type NamesAnswer struct {
	Port    uint32 // the port that the port mapper listens on, according to itself
	Entries []Entry
}

// Append appends n to b.
func (n NamesAnswer) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, n.Port)
	for _, e := range n.Entries {
		b = append(append(b, namePrefix...), e.Name...)
		b = strconv.AppendUint(append(b, nameSuffix...), uint64(e.Port), 10)
		b = append(b, '\n')
	}
	return b
}

const namePrefix, nameSuffix = "name ", " at port "

// ParseNames reads an answer to [OpNames], all of it. As in OTP, it skips unknown lines and an incomplete last line. It
// returns ErrShort if the port is incomplete.
func ParseNames(b []byte) (NamesAnswer, error) {
	port, text, err := ParseText(b)
	if err != nil {
		return NamesAnswer{}, err
	}
	n := NamesAnswer{Port: port}
	for {
		line, rest, ok := bytes.Cut(text, []byte{'\n'})
		if !ok {
			return n, nil
		}
		text = rest
		if e, ok := parseNameLine(line); ok {
			n.Entries = append(n.Entries, e)
		}
	}
}

func parseNameLine(line []byte) (e Entry, ok bool) {
	name, ok := bytes.CutPrefix(line, []byte(namePrefix))
	i := bytes.LastIndex(name, []byte(nameSuffix))
	if !ok || i <= 0 {
		return e, false
	}
	port, err := strconv.ParseUint(string(name[i+len(nameSuffix):]), 10, 16)
	return Entry{string(name[:i]), uint16(port)}, err == nil
}

// ParseText splits the port from the text of an answer to OpNames or OpDump.
func ParseText(b []byte) (port uint32, text []byte, err error) {
	if len(b) < 4 {
		return 0, nil, ErrShort
	}
	return binary.BigEndian.Uint32(b), b[4:], nil
}

package raw

import (
	"encoding/binary"

	"github.com/actornode/actornode/wire/epmd"
)

// EPMD is a client of a port mapper.
type EPMD struct{ *Conn }

// DialEPMD connects to the port mapper at addr, HOST:PORT.
func DialEPMD(addr string) (*EPMD, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	return &EPMD{c}, nil
}

// Request sends a request as the protocol has it.
func (e *EPMD) Request(r epmd.Request) error {
	b, err := r.Append(nil)
	if err != nil {
		return err
	}
	return e.Send(b)
}

// Body sends any bytes behind the length of 16 bits that every request has.
func (e *EPMD) Body(body []byte) error {
	return e.Send(binary.BigEndian.AppendUint16(nil, uint16(len(body))), body)
}

// Register registers a node and reads the answer. The registration lasts as long as
// the connection.
func (e *EPMD) Register(r epmd.Registration) (epmd.AliveAnswer, error) {
	if r.Highest == 0 {
		r.Highest, r.Lowest = epmd.Version, epmd.Version
	}
	if r.Type == 0 {
		r.Type = epmd.Visible
	}
	if err := e.Request(epmd.Request{Op: epmd.OpAlive, Registration: r}); err != nil {
		return epmd.AliveAnswer{}, err
	}
	b, err := e.Next(6)
	if err != nil {
		return epmd.AliveAnswer{}, err
	}
	a, _, err := epmd.ParseAlive(b)
	return a, err
}

// Lookup asks for a node, by its name before the @. The port mapper closes the
// connection behind its answer.
func (e *EPMD) Lookup(name string) (epmd.PortAnswer, error) {
	b, err := e.ask(epmd.Request{Op: epmd.OpPort, Name: name})
	if err != nil {
		return epmd.PortAnswer{}, err
	}
	a, _, err := epmd.ParsePort(b)
	return a, err
}

// Names asks for all live names.
func (e *EPMD) Names() (epmd.NamesAnswer, error) {
	b, err := e.ask(epmd.Request{Op: epmd.OpNames})
	if err != nil {
		return epmd.NamesAnswer{}, err
	}
	return epmd.ParseNames(b)
}

func (e *EPMD) ask(r epmd.Request) ([]byte, error) {
	if err := e.Request(r); err != nil {
		return nil, err
	}
	b, _ := e.Rest(e.Patience)
	return b, nil
}

package raw

import (
	"encoding/binary"

	"github.com/actornode/actornode/internal/epmdcodec"
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
func (e *EPMD) Request(r epmdcodec.Request) error {
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
func (e *EPMD) Register(r epmdcodec.Registration) (epmdcodec.AliveAnswer, error) {
	if r.Highest == 0 {
		r.Highest, r.Lowest = epmdcodec.Version, epmdcodec.Version
	}
	if r.Type == 0 {
		r.Type = epmdcodec.Visible
	}
	if err := e.Request(epmdcodec.Request{Op: epmdcodec.OpAlive, Registration: r}); err != nil {
		return epmdcodec.AliveAnswer{}, err
	}
	b, err := e.Next(6)
	if err != nil {
		return epmdcodec.AliveAnswer{}, err
	}
	a, _, err := epmdcodec.ParseAlive(b)
	return a, err
}

// Lookup asks for a node, by its name before the @. The port mapper closes the
// connection behind its answer.
func (e *EPMD) Lookup(name string) (epmdcodec.PortAnswer, error) {
	b, err := e.ask(epmdcodec.Request{Op: epmdcodec.OpPort, Name: name})
	if err != nil {
		return epmdcodec.PortAnswer{}, err
	}
	a, _, err := epmdcodec.ParsePort(b)
	return a, err
}

// Names asks for all live names.
func (e *EPMD) Names() (epmdcodec.NamesAnswer, error) {
	b, err := e.ask(epmdcodec.Request{Op: epmdcodec.OpNames})
	if err != nil {
		return epmdcodec.NamesAnswer{}, err
	}
	return epmdcodec.ParseNames(b)
}

func (e *EPMD) ask(r epmdcodec.Request) ([]byte, error) {
	if err := e.Request(r); err != nil {
		return nil, err
	}
	b, _ := e.Rest(e.Patience)
	return b, nil
}

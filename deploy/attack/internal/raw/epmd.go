package raw

import (
	"encoding/binary"

	"github.com/actornode/actornode/internal/wire/epmdserver"
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
func (e *EPMD) Request(r epmdserver.Request) error {
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
func (e *EPMD) Register(r epmdserver.Registration) (epmdserver.AliveAnswer, error) {
	if r.Highest == 0 {
		r.Highest, r.Lowest = epmdserver.Version, epmdserver.Version
	}
	if r.Type == 0 {
		r.Type = epmdserver.Visible
	}
	if err := e.Request(epmdserver.Request{Op: epmdserver.OpAlive, Registration: r}); err != nil {
		return epmdserver.AliveAnswer{}, err
	}
	b, err := e.Next(6)
	if err != nil {
		return epmdserver.AliveAnswer{}, err
	}
	a, _, err := epmdserver.ParseAlive(b)
	return a, err
}

// Lookup looks up a node by its name before the @. The port mapper closes the connection after its answer.
func (e *EPMD) Lookup(name string) (epmdserver.PortAnswer, error) {
	b, err := e.ask(epmdserver.Request{Op: epmdserver.OpPort, Name: name})
	if err != nil {
		return epmdserver.PortAnswer{}, err
	}
	a, _, err := epmdserver.ParsePort(b)
	return a, err
}

// Names requests all registered names.
func (e *EPMD) Names() (epmdserver.NamesAnswer, error) {
	b, err := e.ask(epmdserver.Request{Op: epmdserver.OpNames})
	if err != nil {
		return epmdserver.NamesAnswer{}, err
	}
	return epmdserver.ParseNames(b)
}

func (e *EPMD) ask(r epmdserver.Request) ([]byte, error) {
	if err := e.Request(r); err != nil {
		return nil, err
	}
	b, _ := e.Rest(e.Patience)
	return b, nil
}

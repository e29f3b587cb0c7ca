package native

import (
	"fmt"
	"math"
	"sync"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
)

// Check returns the [*wire.EncodeError] with which every link of the protocol would refuse a message, without sending it.
// Any goroutine may call it.
func (p *Protocol) Check(to wire.Dest, msg any) error {
	c := checker{enc: pack.Encoder{Types: p.types, Foreign: p.Foreign}, limit: math.MaxInt}
	return c.Check(to, msg)
}

// checker encodes messages without sending them, to find out whether they can be sent. Many goroutines may use it
// concurrently.
type checker struct {
	enc   pack.Encoder // without a dictionary
	limit int          // maximum bytes of a message
}

// scratch provides buffers for encoding messages.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// Check implements links.Checker.
func (c *checker) Check(to wire.Dest, msg any) error {
	mem := scratch.Get().(*[]byte)
	b, size, err := (*mem)[:0], 0, error(nil)
	if name, ok := to.(wire.Atom); ok {
		b, err = c.enc.AppendAtom(b, name)
	}
	if err == nil {
		var first [1][]byte
		var segs [][]byte
		segs, b, err = c.enc.Segments(first[:0], b, msg)
		for _, s := range segs {
			size += len(s)
		}
	}
	if cap(b) <= keptSize {
		*mem = b
		scratch.Put(mem)
	}
	if err == nil && size > max(c.limit, maxFrame) {
		err = tooLong(size, c.limit)
	}
	if err != nil {
		return &wire.EncodeError{Err: err}
	}
	return nil
}

func tooLong(size, limit int) error {
	return fmt.Errorf("a message of %d bytes; at most %d are allowed", size, limit)
}

// Check implements links.Checker.
func (l *link) Check(to wire.Dest, msg any) error { return l.check.Check(to, msg) }

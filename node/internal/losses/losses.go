// Package losses remembers the lost connections that the nodes of a cluster tell each other, so that a node passes on each
// report once.
//
// Nouns: a [Report] says that a node has lost its connection to another. It has a number, which grows with each report of
// one life of the name server that it is from. A [Memory] has the last one for each connection and life.
//
// Invariants:
//
//  1. A report is new once. Reports of two lives do not replace each other: nodes would send them round for ever.
//  2. At most [Most] are remembered. A report of another connection is not new then: whoever reports so many is no node of
//     this cluster.
//
// The package has no clock and no goroutine: whoever uses a Memory says when to forget.
package losses

import (
	"math/big"
	"strconv"

	"github.com/actornode/actornode/wire"
)

// Most is how many reports a Memory has.
const Most = 10_000

// Report is whose report it is, From, to whom the connection is lost, and in which life of its name server From said so.
type Report struct {
	From, To wire.Atom
	life     string // an integer, in digits
}

// Read reads {lost_connection, From, Life, Number, To}.
func Read(t wire.Tuple) (r Report, number any, ok bool) {
	if len(t) != 5 {
		return r, nil, false
	}
	from, isFrom := t[1].(wire.Atom)
	to, isTo := t[4].(wire.Atom)
	life, isLife := digits(t[2])
	_, isNumber := wire.Int(t[3])
	return Report{from, to, life}, t[3], isFrom && isTo && isLife && isNumber
}

func digits(t any) (text string, ok bool) {
	if n, ok := wire.Int(t); ok {
		return strconv.FormatInt(n, 10), true
	}
	if n, ok := t.(*big.Int); ok && n.BitLen() <= 256 {
		return n.String(), true
	}
	return "", false
}

// Memory has the reports. The zero value has none.
type Memory struct{ seen map[Report]*Entry }

// Entry is what is remembered of a report. Timer is for whoever forgets it: 0 in a new one.
type Entry struct {
	number any
	Timer  uint64
}

// Note remembers a report. isNew false: it is known, or a later one is, or there is no space for it.
func (m *Memory) Note(r Report, number any) (e *Entry, isNew bool) {
	e = m.seen[r]
	switch {
	case e != nil && wire.Compare(number, e.number) <= 0:
		return nil, false
	case e != nil:
		e.number = number
		return e, true
	case len(m.seen) >= Most:
		return nil, false
	case m.seen == nil:
		m.seen = map[Report]*Entry{}
	}
	e = &Entry{number: number}
	m.seen[r] = e
	return e, true
}

// Forget forgets the reports of a connection and a life.
func (m *Memory) Forget(r Report) { delete(m.seen, r) }

package global

import (
	"math/big"
	"strconv"

	"github.com/actornode/actornode/wire"
)

// mostLosses is the maximum number of remembered reports.
const mostLosses = 10_000

// loss is a report that a node, From, has lost its connection to another, in a life of its name server. It has a number,
// which increases with each report of one life.
type loss struct {
	From, To wire.Atom
	life     string // an integer, in digits
}

// readLoss parses {lost_connection, From, Life, Number, To}.
func readLoss(t wire.Tuple) (r loss, number any, ok bool) {
	if len(t) != 5 {
		return r, nil, false
	}
	from, isFrom := t[1].(wire.Atom)
	to, isTo := t[4].(wire.Atom)
	life, isLife := digits(t[2])
	_, isNumber := wire.AsInt(t[3])
	return loss{from, to, life}, t[3], isFrom && isTo && isLife && isNumber
}

func digits(t any) (text string, ok bool) {
	if n, ok := wire.AsInt(t); ok {
		return strconv.FormatInt(n, 10), true
	}
	if n, ok := t.(*big.Int); ok && n.BitLen() <= 256 {
		return n.String(), true
	}
	return "", false
}

// losses has the last report of each connection and life, so that a node forwards each report once. The caller decides when
// to forget. The zero value is empty.
//
// Invariants:
//
//  1. A report is new once. Reports of two lives do not replace each other: otherwise nodes would forward them for ever.
//  2. At most mostLosses are remembered. A report of a further connection is not new then: a node that reports so many
//     does not belong to this cluster.
type losses struct{ seen map[loss]*lossEntry }

// lossEntry is what is remembered of a report. Timer is for the caller of Forget: 0 in a new one.
type lossEntry struct {
	number any
	Timer  uint64
}

// Note remembers a report. isNew is false if it is known, or a later one is, or there is no space for it.
func (m *losses) Note(r loss, number any) (e *lossEntry, isNew bool) {
	e = m.seen[r]
	switch {
	case e != nil && wire.Compare(number, e.number) <= 0:
		return nil, false
	case e != nil:
		e.number = number
		return e, true
	case len(m.seen) >= mostLosses:
		return nil, false
	case m.seen == nil:
		m.seen = map[loss]*lossEntry{}
	}
	e = &lossEntry{number: number}
	m.seen[r] = e
	return e, true
}

// Forget forgets the reports of a connection and a life.
func (m *losses) Forget(r loss) { delete(m.seen, r) }

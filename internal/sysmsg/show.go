package sysmsg

import (
	"fmt"
	"math/big"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// maxBrief is how much of a term is shown, in bytes.
const maxBrief = 1 << 10

// Brief is what [Term] makes of a message, a state or an event, in Erlang syntax on
// one line, for logs and error texts: the first KiB. It costs no more than that, as
// [wire.FormatMax] says.
func Brief(v any) string {
	left := maxBrief // no more fit in
	return wire.FormatMaxFunc(v, maxBrief, func(v any) any {
		if left > 0 {
			if t, ok := said(v); ok {
				left--
				return t
			}
		}
		return wire.FormatGo("%+v", v, maxBrief)
	})
}

// Words is an exit reason in one line, for logs: the first KiB. The stack of a crash
// is in the node's crash report.
func Words(reason any) string {
	if c, ok := reason.(*node.Crash); ok {
		return c.String()
	}
	return Brief(reason)
}

// Guard calls f, code of a user's that must not end a server, and returns what it
// has panicked with, nil if it has returned.
func Guard(f func()) (crash *node.Crash) {
	returned := false
	defer func() {
		if !returned {
			crash = nodehook.Panicked(recover()).(*node.Crash)
		}
	}()
	f()
	returned = true
	return nil
}

// Term is v if it is a term; else what it stands for (see package termof);
// else a binary with its text or its fields, as fmt prints them with %+v. Tuples,
// lists and maps are looked into. Other nodes can be shown what it returns. A
// value that other goroutines change should have a method Term.
func Term(v any) any { return term(v, maxTerms) }

// maxTerms is how many Term methods may lead to each other.
const maxTerms = 16

func term(v any, left int) any {
	switch v := v.(type) {
	case nil, bool, string, []byte, wire.Atom, wire.PID, wire.Ref, wire.Port, wire.Fun, wire.Export, wire.Bitstring, wire.Charlist:
		return v
	case *big.Int, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64:
		return v
	case wire.Tuple:
		return wire.Tuple(terms(v, left))
	case wire.List:
		return wire.List(terms(v, left))
	case wire.ImproperList:
		return wire.ImproperList{Head: terms(v.Head, left), Tail: term(v.Tail, left)}
	case wire.Map:
		m := wire.MakeMap(v.Len())
		for k, e := range v.Unordered() {
			m.Put(term(k, left), term(e, left))
		}
		return m
	}
	if left > 0 {
		if t, ok := said(v); ok {
			return term(t, left-1)
		}
	}
	return fmt.Sprintf("%+v", v)
}

// said is the term that v stands for, or what went wrong with that: to be shown must not
// end a process.
func said(v any) (t any, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			t, ok = fmt.Sprintf("%T.Term: panic: %s", v, wire.FormatGo("%v", cause, maxBrief)), true
		}
	}()
	return termof.Of(v)
}

func terms(l []any, left int) []any {
	r := make([]any, len(l))
	for i, v := range l {
		r[i] = term(v, left)
	}
	return r
}

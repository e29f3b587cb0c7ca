package pack

import (
	"math"
	"time"

	"github.com/actornode/actornode/wire"
)

// toErlang returns the Go value that is written for t with [Encoder].Erlang: the one whose encoding suits other languages
// best.
func (w *writing) toErlang(t any) (any, error) {
	switch t := t.(type) {
	case wire.Atom:
		switch t {
		case wire.AtomUndefined:
			return nil, nil
		case wire.AtomTrue, wire.AtomFalse:
			return t == wire.AtomTrue, nil
		}
	case string:
		return []byte(t), nil
	}
	if why := notErlang(t); why != "" {
		return nil, faults.New(ErrNoTerm, "%s, which Erlang has not", why)
	}
	return t, nil
}

// fromErlang converts a term without parts that is read with [Decoder].Erlang.
func (r *reading) fromErlang(at int, t any) (any, error) {
	switch t := t.(type) {
	case nil:
		return wire.AtomUndefined, nil
	case bool:
		if t {
			return wire.AtomTrue, nil
		}
		return wire.AtomFalse, nil
	case string:
		return []byte(t), nil
	}
	if why := notErlang(t); why != "" {
		return nil, r.failAt(at, ErrMalformed, "%s, which Erlang has not", why)
	}
	return t, nil
}

// notErlang describes t if Erlang has no such value.
func notErlang(t any) string {
	switch t := t.(type) {
	case float64:
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return "a float that is no number"
		}
	case float32:
		return notErlang(float64(t))
	case time.Time:
		return "a time"
	case wire.PID:
		return ofNoNode(t.Node())
	case wire.Ref:
		return ofNoNode(t.Node())
	case wire.Port:
		return ofNoNode(t.Node())
	}
	return ""
}

func ofNoNode(name wire.Atom) string {
	if name == "" {
		return "an identifier of no node"
	}
	return ""
}

package values

import (
	"fmt"

	"github.com/actornode/actornode/wire"
)

// The first atoms of errors and panics as terms.
const (
	ErrorMark wire.Atom = "$error"
	PanicMark wire.Atom = "$panic"
)

// Term returns {'$error', Text, Parts}, and false if no other node knows a part of e.
func (e *Error) Term() (wire.Tuple, bool) {
	left := MaxParts
	parts := e.terms(0, &left)
	return wire.Tuple{ErrorMark, e.Error(), parts}, len(parts) > 0
}

// terms returns the parts that other nodes know.
func (e *Error) terms(depth int, left *int) (all wire.List) {
	for _, p := range e.Parts {
		if *left == 0 || depth == MaxDepth {
			break
		}
		*left--
		if inner, ok := p.(*Error); ok {
			if parts := inner.terms(depth+1, left); len(parts) > 0 {
				all = append(all, wire.Tuple{ErrorMark, inner.Error(), parts})
			}
			continue
		}
		all = append(all, p)
	}
	return all
}

// ReadError parses {'$error', Text, Parts}, whose parts have been converted. The error is opened.
func ReadError(t wire.Tuple, known Known) (error, bool) {
	e, ok := read(t, known, 0)
	if !ok {
		return nil, false
	}
	return e.Open(known), true
}

func read(t wire.Tuple, known Known, depth int) (*Error, bool) {
	if len(t) != 3 || t[0] != ErrorMark || depth > MaxDepth {
		return nil, false
	}
	text, isText := binary(t[1])
	parts, isList := wire.AsList(t[2])
	if !isText || !isList {
		return nil, false
	}
	e := &Error{Text: text, known: known}
	for _, p := range parts[:min(len(parts), MaxParts)] {
		if t, ok := p.(wire.Tuple); ok {
			inner, ok := read(t, known, depth+1)
			if !ok {
				continue
			}
			p = inner
		}
		e.Parts = append(e.Parts, p)
	}
	return e, true
}

func binary(t any) (string, bool) {
	switch b := t.(type) {
	case []byte:
		return Cut(string(b[:min(len(b), MaxText+1)])), true
	case string:
		return Cut(b), true
	}
	return "", false
}

// PanicTerm returns {'$panic', Type, Text} for the value of a panic, or {'$panic', Type, Error}.
func PanicTerm(v any, known Known) wire.Tuple {
	switch v := OfPanic(v, known).(type) {
	case *Error:
		if t, ok := v.Term(); ok {
			return wire.Tuple{PanicMark, v.Type, t}
		}
		return wire.Tuple{PanicMark, v.Type, v.Error()}
	case Panic:
		return wire.Tuple{PanicMark, v.Type, v.String()}
	}
	return wire.Tuple{PanicMark, fmt.Sprintf("%T", v), printed(v)}
}

package values

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/actornode/actornode/wire"
)

// Limits of an error that is sent to another node, or received from one.
const (
	MaxText   = 16 << 10 // bytes of a text
	MaxParts  = 64       // of one error, all levels together
	MaxDepth  = 8        // of nested errors
	MaxStack  = 16 << 10 // bytes of a stack as text
	MaxFrames = 32       // of a stack as a term
)

// Known is what a node knows by name.
type Known interface {
	// Name returns the name of a sentinel error, or "" if it has none.
	Name(err error) string
	// Sentinel returns the error with a name, or nil if there is none.
	Sentinel(name string) error
	// Value returns what is sent for a value of a registered type, and false if its type is not registered, or it cannot be
	// sent.
	Value(v any) (any, bool)
}

// Default is used by errors that are not associated with a node: those in the middle of messages. It is set when the program
// starts.
var Default *Codec

// ErrorTerm returns an error as Erlang's {error, Reason} should carry it: the exit reason of an error that has one, the
// result of its method Term() any, otherwise the error's text as a binary. err, which must not be nil, or an error that it
// wraps may have them.
func ErrorTerm(err error) any { return Default.ErrorTerm(err) }

// Error is an error of another node.
type Error struct {
	Text  string
	Type  string // of the error in Go, or "" if unknown
	Parts []any  // wire.Atom, *Error, or another error; others are ignored here

	known   Known // nil if not opened
	arrived Known // of the node that has read it; if nil, Default
}

// Arrived records the node on which e was read.
func (e *Error) Arrived(on Known) { e.arrived = on }

// Opened is [Error.Open] on the node on which e was read.
func (e *Error) Opened() error {
	if e == nil {
		return errNone
	}
	known := e.arrived
	if known == nil {
		known = Default
	}
	return e.Open(known)
}

// Error returns the text, bounded.
func (e *Error) Error() string { return Cut(e.Text) }

// GoType returns the type of the error on its own node, or "" if unknown.
func (e *Error) GoType() string { return e.Type }

// Unwrap returns the parts that are errors here.
func (e *Error) Unwrap() (all []error) {
	for _, p := range e.Parts[:min(len(e.Parts), MaxParts)] {
		if err := e.part(p); err != nil {
			all = append(all, err)
		}
	}
	return all
}

func (e *Error) part(p any) error {
	switch p := p.(type) {
	case wire.Atom:
		known := e.known
		if known == nil {
			known = e.arrived
		}
		if known == nil {
			known = Default
		}
		if known != nil {
			return known.Sentinel(string(p))
		}
	case *Error:
		if p != nil {
			return p.By(e.known)
		}
	case error:
		return p
	}
	return nil
}

// Open returns the error that e represents on a node: e, or its only part if that has the same text.
func (e *Error) Open(known Known) error {
	e = e.By(known)
	if len(e.Parts) == 1 {
		if err := e.part(e.Parts[0]); err != nil && text(err) == e.Error() {
			return err
		}
	}
	return e
}

// By returns e on a node.
func (e *Error) By(known Known) *Error {
	if known == nil || e.known != nil {
		return e
	}
	return &Error{e.Text, e.Type, e.Parts, known, e.arrived}
}

// IsOpen reports whether e has been opened, or made, on this node.
func (e *Error) IsOpen() bool { return e.known != nil }

// ErrorOf returns the error in the form in which it is sent.
func ErrorOf(err error, known Known) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	w := walk{known, MaxParts}
	return w.error(err, 0)
}

// walk traverses what an error wraps.
type walk struct {
	known Known
	left  int // parts
}

func (w *walk) error(err error, depth int) *Error {
	e := &Error{Text: text(err), Type: reflect.TypeOf(err).String(), known: w.known}
	if depth == MaxDepth {
		return e
	}
	if name := w.known.Name(err); name != "" {
		w.add(e, wire.Atom(name))
		return e
	}
	if v, ok := w.known.Value(err); ok {
		w.add(e, v)
	}
	for _, inner := range wrapped(err) {
		if w.left == 0 {
			break
		}
		w.left--
		e.Parts = append(e.Parts, w.part(inner, depth+1))
	}
	return e
}

func (w *walk) add(e *Error, part any) {
	if w.left > 0 {
		w.left--
		e.Parts = append(e.Parts, part)
	}
}

func (w *walk) part(err error, depth int) any {
	if e, ok := err.(*Error); ok {
		return e
	}
	if name := w.known.Name(err); name != "" {
		return wire.Atom(name)
	}
	return w.error(err, depth)
}

// wrapped returns what an error wraps directly.
func wrapped(err error) (all []error) {
	defer func() {
		if recover() != nil {
			all = nil
		}
	}()
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		all = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		all = e.Unwrap()
	}
	some := all[:0:0]
	for _, inner := range all {
		if inner != nil {
			some = append(some, inner)
		}
	}
	return some
}

// text returns the text of an error, bounded.
func text(err error) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("an error of type %T, which panics when asked for its text", err)
		}
	}()
	return Cut(err.Error())
}

// Cut returns the beginning of a text, or all of it if it is not too long.
func Cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText-4], "") + "…"
}

// Panic is the value of a panic on another node. It prints as the value did there.
type Panic struct{ Type, Text string }

// String returns the text of the value, bounded.
func (p Panic) String() string { return Cut(p.Text) }

// GoType returns the type of the value.
func (p Panic) GoType() string { return p.Type }

// OfPanic returns the value of a panic in the form in which it is sent.
func OfPanic(v any, known Known) any {
	switch v := v.(type) {
	case error:
		return ErrorOf(v, known)
	case string:
		return Cut(v)
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, nil, Panic:
		return v
	}
	if v, ok := known.Value(v); ok {
		return v
	}
	return Panic{fmt.Sprintf("%T", v), printed(v)}
}

func printed(v any) string { return wire.Describe(v, MaxText) }

// Reply is an error instead of a reply, between Go nodes.
type Reply struct {
	Err *Error

	cause error // on the node that has made it
}

// NewReply returns the reply for err.
func NewReply(err error, known Known) *Reply { return &Reply{ErrorOf(err, known), err} }

// Cause returns the error of a reply: on the node that has made it the original one.
func (r *Reply) Cause() error {
	switch {
	case r.cause != nil:
		return r.cause
	case r.Err != nil:
		return r.Err
	}
	return errNone
}

// errNone is the error of a Reply without one, which no node sends.
var errNone = errors.New("the process that was called failed, and its node does not say how")

// Open returns the error of a reply on a node.
func (r *Reply) Open(known Known) error {
	if r.Err == nil {
		return errNone
	}
	return r.Err.Open(known)
}

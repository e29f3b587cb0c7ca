package etf

import (
	"reflect"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// Receiver is a Go value that reads itself from a term. [FromTerm] uses it
// wherever a pointer to the type at hand is one.
type Receiver interface{ SetTerm(term any) error }

// Marshal returns the bytes of the term that v stands for: [Append] of [ToTerm],
// for the Go values inside of terms as well.
func Marshal(v any) ([]byte, error) {
	e := etfcodec.Encoder{Foreign: ToTerm}
	return e.Append(nil, v)
}

// Unmarshal reads the one term that b is and stores it in what into points to, as
// [FromTerm] does.
func Unmarshal(b []byte, into any) error {
	term, rest, err := Decode(b)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return faults.New(ErrMalformed, "offset %d: %d bytes behind the end of the term", len(b)-len(rest), len(rest))
	}
	return FromTerm(term, into)
}

// ToTerm returns the term that a Go value stands for, which needs no encoder of
// this format:
//
//	bool, integers, floats  themselves, types made of them too
//	string                  a binary; by tag a charlist or an atom
//	[]byte, [N]byte         a binary; by tag a list
//	slice, array            a list
//	map                     a map
//	pointer                 what it points to; nil is undefined
//	wire.PID, wire.Ref      itself; the zero value, in a struct, is undefined
//	wire.At                 {Name, Node}
//	any                     what is in it; nil is []
//	time.Duration           an integer of nanoseconds, or of the unit in the tag
//	time.Time               a binary: RFC 3339 in UTC, such as <<"2024-02-29T12:30:00.5Z">>
//	struct                  as its tags say
//	wire.Termer             what its Term returns
//
// A struct is a map of its exported fields by default, with atoms for keys: the
// field's name in snake case, or the name in its tag. A tag of a field "_" makes
// it a tuple instead:
//
//	type Add struct {
//		_    struct{}      `etf:"add,tuple"`   // {add, …}; ",tuple" has no first atom, ",record" the name of the type
//		Item string        `etf:",charlist"`   // or atom, or binary
//		Wait time.Duration `etf:",ms"`         // or ns, us, s
//		Note *string                           // undefined, or a binary
//	}
//
// In a map, omitzero leaves out a field that is zero, and required is for
// [FromTerm]. A field tagged "-" does not count, and goes to Go nodes neither. The fields of an embedded struct
// without a tag count as the struct's own.
//
// A term is returned as it is; whatever Go values it has inside stay there, and
// [Marshal] takes care of them. The error is [ErrNoTerm] or [ErrLimit]
// and names the field.
func ToTerm(v any) (any, error) {
	if etfcodec.IsTerm(v) {
		return v, nil
	}
	var w walk
	if m, ok := v.(termof.Marked); ok {
		v, w.names = m.Value, m.Name
	}
	r := reflect.ValueOf(v)
	t, err := planOf(planKey{r.Type(), style{}}).to(r, w)
	if err != nil {
		return nil, faults.Within(r.Type().String(), err)
	}
	return t, nil
}

// FromTerm stores a term in what into points to: the reverse of [ToTerm], with
// some leave. Terms may be in any Go spelling. A string reads binaries and
// charlists alike, unless its tag says atom; a float reads whole numbers; a
// []byte a list of bytes; a pointer the atoms undefined and nil, as nil; any
// takes every term as it is. Keys of a map that the struct has no field for are
// ignored, and fields that the map has no key for are left as they are, unless
// they are tagged required. Numbers must fit. What is stored may share memory
// with the term.
//
// The error is [ErrMismatch], [ErrLimit], or [ErrNoTerm] for a Go type that can
// hold no term; it names the field, and part of the value may be stored by then.
func FromTerm(term any, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return faults.New(ErrMismatch, "into is a %T, not a pointer to something", into)
	}
	var w walk
	if h, ok := term.(termof.Hosted); ok {
		term, w.host = h.Term, h.Host
	}
	v = v.Elem()
	if err := planOf(planKey{v.Type(), style{}}).from(term, v, w); err != nil {
		return faults.Within(v.Type().String(), err)
	}
	return nil
}

// mismatch is the error for a term that is not what the Go type wants.
func mismatch(t any, wanted string) error {
	return faults.New(ErrMismatch, "expected %s, not %s", wanted, brief(t))
}

// brief is the beginning of a term, for errors.
func brief(t any) string {
	const most = 60
	text := []rune(wire.FormatMax(t, utf8.UTFMax*(most+1)))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	return string(text)
}

func tooDeep() error {
	return faults.New(ErrLimit, "Go values nested deeper than %d levels", maxNesting)
}

package values

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/wire/termof"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Values of registered types, errors and crashes as terms, for nodes of OTP, and their conversion back when such a term comes
// from one.

// marks are the atoms that identify such terms.
var marks = []wire.Atom{termof.TypeMark, ErrorMark, PanicMark}

// Term returns the representation of a Go value for a node of OTP. The maps of registered structs in it, and of pointers to
// them, have the names of their types.
func (c *Codec) Term(v any) (any, error) {
	if in, ok := termof.Held(v); ok {
		return in, nil
	}
	switch form := c.Form(v).(type) {
	case *Crash:
		return c.CrashTerm(form), nil
	case *Reply:
		return c.Failed(form.Cause()), nil
	case Panic:
		return PanicTerm(form, c), nil
	case *Exit:
		return form.Reason, nil
	case error:
		if !c.isMarked(form) {
			return c.ErrorTerm(form), nil
		}
	}
	return etf.ToTerm(termof.Marked{Value: v, Name: c.Types.NameOf})
}

// isMarked reports whether an error is sent as a map of its fields: its type, or what it points to, is a registered struct
// that represents no other term.
func (c *Codec) isMarked(err error) bool {
	typ := reflect.TypeOf(err)
	if typ.Kind() == reflect.Pointer {
		if typ = typ.Elem(); reflect.ValueOf(err).IsNil() {
			return false
		}
	}
	if typ.Kind() != reflect.Struct || c.Types.NameOf(typ) == "" {
		return false
	}
	_, stands := termof.Of(err)
	return !stands
}

// maxMarkDepth is the depth in a term to which marks are searched. Deeper ones stay terms.
const maxMarkDepth = 64

// IsMark reports whether terms with the atom are for Unmark. It implements erldist.Values.
func (c *Codec) IsMark(a wire.Atom) bool { return slices.Contains(marks, a) }

// Unmark returns a term of a node of OTP that contains marks, with the values, errors and crashes in it restored. Invalid
// ones stay unchanged. The term is modified. It implements erldist.Values.
func (c *Codec) Unmark(term, host any) any { return unmarking{c, host}.at(term, 0) }

// unmarking reads a term on a node.
type unmarking struct {
	*Codec
	host any
}

func (u unmarking) at(term any, depth int) any {
	if depth > maxMarkDepth {
		return term
	}
	switch x := term.(type) {
	case wire.Tuple:
		if crash, ok := ReadCrash(x, u.Codec); ok {
			return u.OfForm(crash)
		}
		u.all(x, depth)
		if err, ok := ReadError(x, u.Codec); ok {
			return err
		}
	case wire.List:
		u.all(x, depth)
	case wire.ImproperList:
		u.all(x.Head, depth)
	case wire.Map:
		var changed []any // keys and values
		for k, v := range x.Unordered() {
			if isCompound(v) {
				changed = append(changed, k, u.at(v, depth+1))
			}
		}
		for i := 0; i < len(changed); i += 2 {
			x.Put(changed[i], changed[i+1])
		}
		return u.value(x)
	}
	return term
}

func (u unmarking) all(terms []any, depth int) {
	for i, x := range terms {
		if isCompound(x) {
			terms[i] = u.at(x, depth+1)
		}
	}
}

func isCompound(term any) bool {
	switch term.(type) {
	case wire.Tuple, wire.List, wire.ImproperList, wire.Map:
		return true
	}
	return false
}

// value returns the Go value that a map represents: of a registered type, of a pointer to one, a time or a future. A map that
// names none, or is invalid, stays a map. For a type whose pointer is an error it returns the pointer.
func (u unmarking) value(m wire.Map) (v any) {
	name, ok := m.Get(termof.TypeMark)
	if !ok {
		return m
	}
	text, _ := wire.AsText(name)
	switch text {
	case string(termof.TimeName):
		return timeOf(m)
	case string(termof.FutureName):
		return u.References.readMap(u.host, m)
	}
	as, pointer := strings.CutPrefix(text, "*")
	typ := u.Types.Type(as)
	if typ == nil || typ.Kind() != reflect.Struct {
		return m
	}
	defer func() {
		if recover() != nil { // a method of the type
			v = m
		}
	}()
	p := reflect.New(typ)
	if etf.FromTerm(termof.Hosted{Term: m, Host: u.host}, p.Interface()) != nil {
		return m
	}
	if _, isError := p.Interface().(error); pointer || isError && !typ.Implements(reflect.TypeFor[error]()) {
		return p.Interface()
	}
	return p.Elem().Interface()
}

func timeOf(m wire.Map) any {
	text, _ := m.Get(termof.TimeKey)
	var at time.Time
	if m.Len() != 2 || etf.FromTerm(text, &at) != nil {
		return m
	}
	return at
}

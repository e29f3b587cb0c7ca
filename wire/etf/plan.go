package etf

import (
	"math/big"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// maxNesting is the maximum nesting depth of Go values converted from or to terms.
const maxNesting = 10_000

// plan converts the values of one Go type to terms and back.
type plan struct {
	to   func(v reflect.Value, w walk) (any, error)
	from func(t any, v reflect.Value, w walk) error // v is settable
}

// walk is the context of a plan: its position in a value.
type walk struct {
	depth int
	host  any                       // for references; nil if none can be read
	names func(reflect.Type) string // of types whose maps are marked with a name; may be nil
	typed bool                      // the reader of the term knows the type
}

func (w walk) deeper() walk {
	w.depth++
	return w
}

// inside returns the walk for a field of a struct, or for the value of an interface, whose type does not determine the
// value's.
func (w walk) inside(typed bool) walk {
	w.depth++
	w.typed = typed
	return w
}

// mark returns the name that marks the map of a struct, or of a pointer to one.
func (w walk) mark(t reflect.Type) (name wire.Atom) {
	if w.names != nil && !w.typed {
		name = wire.Atom(w.names(t))
	}
	return name
}

// planKey identifies a plan: the type, and the tag of the field.
type planKey struct {
	t reflect.Type
	style
}

// style is the part of a field's tag that selects the representation of its value. It also applies to the elements of
// slices and maps, but not to the fields of structs, which have their own.
type style struct {
	text textStyle
	list bool          // []byte is a list
	unit time.Duration // of time.Duration; 0 means nanoseconds
}

type textStyle uint8

const (
	asBinary textStyle = iota
	asCharlist
	asAtom
)

// plans holds a *plan for each used planKey: at most as many as the program has types and tags.
var plans sync.Map

func planOf(k planKey) *plan {
	if p, ok := plans.Load(k); ok {
		return p.(*plan)
	}
	c := compiler{}
	p := c.plan(k)
	for k, p := range c {
		plans.LoadOrStore(k, p)
	}
	return p
}

// compiler holds the plans under construction, because types may be recursive.
type compiler map[planKey]*plan

func (c compiler) plan(k planKey) *plan {
	if p, ok := plans.Load(k); ok {
		return p.(*plan)
	}
	if p, ok := c[k]; ok {
		return p
	}
	p := new(plan)
	c[k] = p
	*p = c.build(k)
	t := k.t
	if t.Implements(termerType) || reflect.PointerTo(t).Implements(termerType) {
		p.to = termerTo(p.to)
	} else if f := termof.Type(t); f != nil {
		p.to = enteredTo(f, p.to)
	}
	if reflect.PointerTo(t).Implements(receiverType) {
		p.from = receiverFrom
	} else if t == reflect.TypeFor[wire.At]() {
		p.from = atFrom
	}
	return p
}

var (
	errorType    = reflect.TypeFor[error]()
	termerType   = reflect.TypeFor[wire.Termer]()
	receiverType = reflect.TypeFor[Receiver]()
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
)

// termTypes are the types of terms that are converted unchanged. The plain Go types of terms are handled by kind.
var termTypes = map[reflect.Type]bool{
	reflect.TypeFor[wire.Atom](): true, reflect.TypeFor[wire.PID](): true, reflect.TypeFor[wire.Ref](): true,
	reflect.TypeFor[wire.Port](): true, reflect.TypeFor[wire.Fun](): true, reflect.TypeFor[wire.Export](): true,
	reflect.TypeFor[wire.Tuple](): true, reflect.TypeFor[wire.List](): true, reflect.TypeFor[wire.ImproperList](): true,
	reflect.TypeFor[wire.Map](): true, reflect.TypeFor[wire.Bitstring](): true, reflect.TypeFor[wire.Charlist](): true,
	reflect.TypeFor[*big.Int](): true,
}

func (c compiler) build(k planKey) plan {
	t := k.t
	switch {
	case termTypes[t]:
		return termPlan(t)
	case t == durationType:
		return durationPlan(k.unit)
	case t == timeType:
		return plan{timeTo, timeFrom}
	case termof.IsReference(t):
		return plan{referenceTo, referenceFrom}
	}
	switch t.Kind() {
	case reflect.Bool:
		return plan{boolTo, boolFrom}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return plan{intTo, intFrom}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return plan{uintTo, uintFrom}
	case reflect.Float32, reflect.Float64:
		return plan{floatTo, floatFrom}
	case reflect.String:
		return textPlan(k.text)
	case reflect.Slice, reflect.Array:
		if t.Elem() == reflect.TypeFor[byte]() && !k.list {
			return plan{bytesTo, bytesFrom}
		}
		return slicePlan(c.plan(planKey{t.Elem(), k.style}))
	case reflect.Map:
		return mapPlan(c.plan(planKey{t.Key(), k.style}), c.plan(planKey{t.Elem(), k.style}))
	case reflect.Pointer:
		return pointerPlan(c.plan(planKey{t.Elem(), k.style}))
	case reflect.Interface:
		return interfacePlan(k.style)
	case reflect.Struct:
		s, err := c.structure(t)
		if err == nil && len(s.fields) == 0 && t.Size() > 0 && !s.tagged { // a type of size 0 has no data to lose
			err = faults.New(ErrNoTerm, "struct %s has no exported fields", t)
		}
		if err != nil {
			return refuse(err)
		}
		return plan{s.to, s.from}
	}
	return refuse(faults.New(ErrNoTerm, "a Go value of type %s is no term", t))
}

// refuse returns the plan of an unsupported type.
func refuse(err error) plan {
	return plan{
		to:   func(reflect.Value, walk) (any, error) { return nil, err },
		from: func(any, reflect.Value, walk) error { return err },
	}
}

// shape is the kind of term that a struct becomes.
type shape uint8

const (
	shapeMap shape = iota
	shapeTuple
)

// structure is the plan of a struct.
type structure struct {
	shape  shape
	tag    wire.Atom // of a tuple
	tagged bool
	fields []field
}

type field struct {
	step     string    // ".Name", for errors
	key      wire.Atom // in a map
	index    []int
	plan     *plan
	omitZero bool
	required bool
}

// structure reads the tags of a struct. The error names the invalid tags or names.
func (c compiler) structure(t reflect.Type) (*structure, error) {
	s := &structure{}
	if err := c.fields(s, t, nil, true); err != nil {
		return nil, err
	}
	if !s.tag.Valid() {
		return nil, faults.New(ErrNoTerm, "struct %s: its tag is no atom of at most %d characters", t, wire.MaxAtomRunes)
	}
	seen := map[wire.Atom][]int{}
	for _, f := range s.fields {
		if s.shape == shapeTuple {
			if f.omitZero || f.required {
				return nil, faults.New(ErrNoTerm, "field %s%s: omitzero and required are for maps", t, f.step)
			}
			continue
		}
		other, taken := seen[f.key]
		switch {
		case taken:
			return nil, faults.New(ErrNoTerm, "struct %s has two fields of the name %s: %s and %s; "+
				"give one another by a tag, as `etf:\"name\"`", t, f.key, fieldPath(t, other), fieldPath(t, f.index))
		case f.key == termof.TypeMark:
			return nil, faults.New(ErrNoTerm, "field %s%s: the name %s is that of the type's own name", t, f.step, f.key)
		case !f.key.Valid():
			return nil, faults.New(ErrNoTerm, "field %s%s: its name is no atom of at most %d characters", t, f.step, wire.MaxAtomRunes)
		}
		seen[f.key] = f.index
	}
	return s, nil
}

// fieldPath returns the name of a field, with the names of the embedded structs before it.
func fieldPath(t reflect.Type, index []int) string {
	var path []string
	for _, i := range index {
		f := t.Field(i)
		path, t = append(path, f.Name), f.Type
	}
	return strings.Join(path, ".")
}

func (c compiler) fields(s *structure, t reflect.Type, index []int, top bool) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("etf")
		at := append(index[:len(index):len(index)], i)
		switch {
		case f.Name == "_" && tagged:
			if top {
				if err := s.setShape(t, tag); err != nil {
					return err
				}
			}
		case termof.Stays(f):
		case f.Anonymous && !tagged && isPart(f.Type):
			if err := c.fields(s, f.Type, at, false); err != nil {
				return err
			}
		case f.IsExported():
			x := field{step: "." + f.Name, key: wire.Atom(snake(f.Name)), index: at}
			style, err := x.read(t, tag)
			if err != nil {
				return err
			}
			x.plan = c.plan(planKey{f.Type, style})
			s.fields = append(s.fields, x)
		}
	}
	return nil
}

// isPart reports whether the fields of an embedded type count as fields of the struct.
func isPart(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != timeType && !termTypes[t] && !t.Implements(termerType)
}

func (s *structure) setShape(t reflect.Type, tag string) error {
	name, shape, _ := strings.Cut(tag, ",")
	s.tag, s.tagged = wire.Atom(name), name != ""
	switch shape {
	case "map", "":
		if s.tagged {
			return faults.New(ErrNoTerm, "struct %s: etf tag %q: a name is for a tuple or record", t, tag)
		}
	case "record":
		if !s.tagged {
			s.tag, s.tagged = wire.Atom(snake(t.Name())), true
		}
		s.shape = shapeTuple
	case "tuple":
		s.shape = shapeTuple
	default:
		return faults.New(ErrNoTerm, "struct %s: etf tag %q: the shapes are tuple, record and map", t, tag)
	}
	return nil
}

func (f *field) read(t reflect.Type, tag string) (s style, err error) {
	name, options, _ := strings.Cut(tag, ",")
	if name != "" {
		f.key = wire.Atom(name)
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "binary":
		case "charlist":
			s.text = asCharlist
		case "atom":
			s.text = asAtom
		case "list":
			s.list = true
		case "omitzero":
			f.omitZero = true
		case "required":
			f.required = true
		case "ns":
			s.unit = time.Nanosecond
		case "us":
			s.unit = time.Microsecond
		case "ms":
			s.unit = time.Millisecond
		case "s":
			s.unit = time.Second
		default:
			return s, faults.New(ErrNoTerm, "field %s%s: etf tag %q: no option %q", t, f.step, tag, option)
		}
	}
	return s, nil
}

// snake converts a Go name to Erlang's style: UserID to user_id.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

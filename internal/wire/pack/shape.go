package pack

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// shape is the structure of a type's encoded values. Two types with the same name are compatible if their common fields
// have the same kinds.
type shape struct {
	kind   string
	parts  []*shape
	fields map[string]*shape
}

// Kinds of shapes with parts, and the wildcard.
const (
	listShape   = "[]"
	mapShape    = "map[]"
	structShape = "struct"
	anyShape    = "…" // unknown: for a recursive or too deeply nested type
)

// Limits for a sent shape, in levels and bytes, and for the kept shapes of a peer, in types and bytes.
const (
	maxShapeDepth = 16
	maxShapeBytes = 16 << 10
	maxShapes     = 4096
	maxShapesKept = 1 << 20
)

// shapeOf returns the shape of a type; open are the enclosing types.
func shapeOf(pl *plan, open []*plan) *shape {
	if len(open) >= maxShapeDepth || slices.Contains(open, pl) {
		return &shape{kind: anyShape}
	}
	open = append(open, pl)
	switch pl.op {
	case opPointer:
		return shapeOf(pl.elem, open)
	case opSlice, opArray:
		return &shape{kind: listShape, parts: []*shape{shapeOf(pl.elem, open)}}
	case opMap:
		return &shape{kind: mapShape, parts: []*shape{shapeOf(pl.key, open), shapeOf(pl.elem, open)}}
	case opStruct:
		s := &shape{kind: structShape, fields: map[string]*shape{}}
		for i := range pl.fields {
			s.fields[pl.fields[i].name] = shapeOf(pl.fields[i].plan, open)
		}
		return s
	}
	return &shape{kind: kindOf(pl)}
}

// kindOf returns the kind of a type without parts.
func kindOf(pl *plan) string {
	switch pl.op {
	case opBool:
		return "bool"
	case opFloat32, opFloat64:
		return "float"
	case opString:
		return "string"
	case opBytes, opByteArray:
		return "bytes"
	case opAny:
		return "any"
	case opError:
		return "error"
	case opTime, opAtom, opPID, opRef, opTerm:
		return builtinNames[pl.typ]
	case opMethod:
		return "by methods"
	}
	return "int"
}

// term returns the encoded form of a shape: a string, {"[]", Elem}, {"map[]", Key, Elem}, or a map from the names of
// fields.
func (s *shape) term() any {
	switch s.kind {
	case listShape, mapShape:
		t := wire.Tuple{s.kind}
		for _, p := range s.parts {
			t = append(t, p.term())
		}
		return t
	case structShape:
		m := wire.MakeMap(len(s.fields))
		for name, f := range s.fields {
			m.Put(name, f.term())
		}
		return m
	}
	return s.kind
}

// shapeFrom is the reverse of term. Unknown forms are compatible with everything.
func shapeFrom(t any) *shape {
	switch t := t.(type) {
	case string:
		if t != listShape && t != mapShape && t != structShape {
			return &shape{kind: t}
		}
	case wire.Tuple:
		if len(t) == 2 && t[0] == listShape || len(t) == 3 && t[0] == mapShape {
			s := &shape{kind: t[0].(string)}
			for _, p := range t[1:] {
				s.parts = append(s.parts, shapeFrom(p))
			}
			return s
		}
	case wire.Map:
		s := &shape{kind: structShape, fields: map[string]*shape{}}
		for name, f := range t.All() {
			if name, ok := name.(string); ok {
				s.fields[name] = shapeFrom(f)
			}
		}
		return s
	}
	return &shape{kind: anyShape}
}

// differ returns the path at which s and t, which have the same name, are incompatible, or ok if they are compatible.
func (s *shape) differ(t *shape) (path string, ok bool) {
	if s.kind == anyShape || t.kind == anyShape {
		return "", true
	}
	if s.kind != t.kind {
		return "", false
	}
	for i, p := range s.parts {
		if path, ok := p.differ(t.parts[i]); !ok {
			return "[]" + path, false
		}
	}
	for _, name := range sortedFields(s) {
		if f := t.fields[name]; f != nil {
			if path, ok := s.fields[name].differ(f); !ok {
				return "." + name + path, false
			}
		}
	}
	return "", true
}

func sortedFields(s *shape) []string {
	names := make([]string, 0, len(s.fields))
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String returns s for people, truncated if it is long.
func (s *shape) String() string {
	var b strings.Builder
	s.write(&b)
	if text := []rune(b.String()); len(text) > maxShapeText {
		return string(text[:maxShapeText]) + "…"
	}
	return b.String()
}

const maxShapeText = 400

func (s *shape) write(b *strings.Builder) {
	if b.Len() > 4*maxShapeText {
		return
	}
	switch s.kind {
	case listShape:
		b.WriteString("[]")
		s.parts[0].write(b)
	case mapShape:
		b.WriteString("map[")
		s.parts[0].write(b)
		b.WriteString("]")
		s.parts[1].write(b)
	case structShape:
		b.WriteString("{")
		for i, name := range sortedFields(s) {
			b.WriteString([]string{"", ", "}[min(i, 1)] + name + " ")
			s.fields[name].write(b)
		}
		b.WriteString("}")
	default:
		b.WriteString(s.kind)
	}
}

// Shapes are the shapes of a peer's types. The zero value is ready to use, also concurrently.
type Shapes struct {
	version atomic.Uint32 // changes with byName

	// Guarded by mu. A shape is kept in encoded form: as a tree it takes thirty times as much memory, and is needed only
	// for types that are sent.
	mu     sync.Mutex
	byName map[wire.Atom]string
	bytes  int // of byName, including names

	checked sync.Map // *goType to verdict
}

// verdict is the result of the check of a type at a version.
type verdict struct {
	version uint32
	err     error
}

// Put reads a shape written by the peer's [Types.AppendShape]. The error is that of a Decoder. A shape beyond the limits is
// not kept, as if the peer had not sent it.
func (s *Shapes) Put(b []byte) error {
	d := Decoder{Limits: Limits{Depth: 2 * maxShapeDepth, Elements: maxShapeBytes}}
	name, term, err := d.Atom(b)
	if err != nil {
		return err
	}
	if len(term) > maxShapeBytes {
		return nil
	}
	if _, rest, err := d.Term(term); err != nil {
		return err
	} else if len(rest) > 0 {
		return faults.New(ErrMalformed, "offset %d: bytes behind the shape of a type", len(b)-len(rest))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.byName[name]
	more := len(term) - len(old)
	if !known {
		more += len(name)
	}
	if s.bytes+more > maxShapesKept || !known && len(s.byName) == maxShapes {
		return nil
	}
	if s.byName == nil {
		s.byName = map[wire.Atom]string{}
	}
	s.byName[name] = string(term)
	s.bytes += more
	s.version.Add(1)
	return nil
}

// named returns the shape of the peer's type with a name, or nil.
func (s *Shapes) named(name wire.Atom) *shape {
	s.mu.Lock()
	told, ok := s.byName[name]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	var d Decoder
	t, _, _ := d.Term([]byte(told)) // cannot fail: it was decoded before
	return shapeFrom(t)
}

// check returns an error for a type whose shape at the peer is incompatible.
func (s *Shapes) check(g *goType) error {
	version := s.version.Load()
	if v, ok := s.checked.Load(g); ok && v.(verdict).version == version {
		return v.(verdict).err
	}
	v := verdict{version: version}
	for _, used := range g.uses {
		theirs := s.named(used.name)
		if theirs == nil {
			continue // the peer has not sent it, or does not have it
		}
		if path, ok := used.shape.differ(theirs); !ok {
			v.err = faults.New(ErrNoTerm, "the peer has another type by the name %s: %s%s differs: here %v, there %v", string(used.name),
				string(used.name), path, used.shape, theirs)
		}
	}
	s.checked.Store(g, v)
	return v.err
}

// AppendShape appends the shape of the type registered as number n, from 0, without a dictionary. more reports whether
// there is one. Nothing is appended for a type that is too large.
func (t *Types) AppendShape(dst []byte, n int) (_ []byte, more bool) {
	if t == nil {
		return dst, false
	}
	order := t.table.registered()
	if n >= len(order) {
		return dst, false
	}
	b, err := new(Encoder).AppendAtom(dst, order[n].name)
	if err == nil {
		b, err = Append(b, order[n].shape.term())
	}
	if err != nil || len(b)-len(dst) > maxShapeBytes {
		return dst, true
	}
	return b, true
}

// usesOf returns the registered types in a type's expression.
func (t *table) usesOf(pl *plan) []*goType {
	if g := t.byType.Of(pl.typ); g != nil {
		return []*goType{g}
	}
	var all []*goType
	for _, part := range []*plan{pl.key, pl.elem} {
		if part != nil {
			all = append(all, t.usesOf(part)...)
		}
	}
	return all
}

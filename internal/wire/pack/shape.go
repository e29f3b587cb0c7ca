package pack

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// shape is what a type's values are made of on the wire. Two types with the same name can be
// sent to each other if the fields that both have are of the same kind.
type shape struct {
	kind   string
	parts  []*shape
	fields map[string]*shape
}

// Kinds of shapes that have parts, and the one that fits all.
const (
	listShape   = "[]"
	mapShape    = "map[]"
	structShape = "struct"
	anyShape    = "…" // not known: of a type within itself, or of one that is too deep
)

// Limits of what is told about a type, levels and bytes, and of what is kept of a peer's, types and bytes.
const (
	maxShapeDepth = 16
	maxShapeBytes = 16 << 10
	maxShapes     = 4096
	maxShapesKept = 1 << 20
)

// shapeOf returns the shape of a type; open are the types around it.
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

// kindOf returns the kind of what has no parts.
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

// term is how a shape travels: a string, {"[]", Elem}, {"map[]", Key, Elem}, or a map from the names
// of fields.
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

// shapeFrom is the reverse of term. What it does not know fits all.
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

// differ returns where s and t, which have the same name, cannot be sent to each other; ok: nowhere.
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

// String returns s as people read it, cut off where it is long.
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

// Shapes are what a peer has told about its types. Its zero value is ready to use, by many goroutines at once.
type Shapes struct {
	version atomic.Uint32 // changes with byName

	// Guarded by mu. A shape is kept as the bytes of its term: as a tree it takes thirty times as much, and
	// is needed only for a type that is sent.
	mu     sync.Mutex
	byName map[wire.Atom]string
	bytes  int // of byName, names included

	checked sync.Map // *goType to verdict
}

// verdict is what is known of a type at a version.
type verdict struct {
	version uint32
	err     error
}

// Put reads what [Types.AppendShape] of the peer has written about a type. The error is that of a Decoder.
// What is beyond the limits is not kept, as if the peer had not told it.
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

// named returns what the peer has told about its type of a name, nil: nothing.
func (s *Shapes) named(name wire.Atom) *shape {
	s.mu.Lock()
	told, ok := s.byName[name]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	var d Decoder
	t, _, _ := d.Term([]byte(told)) // it has been read before
	return shapeFrom(t)
}

// check reports a type that the peer has under the same name with another shape.
func (s *Shapes) check(g *goType) error {
	version := s.version.Load()
	if v, ok := s.checked.Load(g); ok && v.(verdict).version == version {
		return v.(verdict).err
	}
	v := verdict{version: version}
	for _, used := range g.uses {
		theirs := s.named(used.name)
		if theirs == nil {
			continue // it has not said, or does not have it
		}
		if path, ok := used.shape.differ(theirs); !ok {
			v.err = faults.New(ErrNoTerm, "the peer has another type by the name %s: %s%s differs: here %v, there %v", string(used.name),
				string(used.name), path, used.shape, theirs)
		}
	}
	s.checked.Store(g, v)
	return v.err
}

// AppendShape returns what a peer is told about the type that was registered as the nth, from 0, without
// a dictionary. more: there is one. It is empty for a type that is too large to tell.
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

// usesOf returns the registered types that a type is composed of by an expression.
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

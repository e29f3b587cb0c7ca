package pack

import (
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/actornode/actornode/wire"
)

// A type expression is the name of a Go type that needs no registration: a type of Go or this module, or one composed of
// such types and registered ones.
//
//	Type  = Name | "[]" Type | "[" Length "]" Type | "*" Type | "map[" Type "]" Type
//	Name  = one of those below, or the name of a registered type

// builtin are the names with the same meaning on all nodes.
var builtin = map[string]reflect.Type{
	"bool": reflect.TypeFor[bool](), "string": reflect.TypeFor[string](), "any": anyType, "error": errorType,
	"int": reflect.TypeFor[int](), "int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](),
	"int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](), "uint": reflect.TypeFor[uint](),
	"uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](), "uint32": reflect.TypeFor[uint32](),
	"uint64": reflect.TypeFor[uint64](), "float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
	"time": timeType, "duration": reflect.TypeFor[time.Duration](), "bigint": reflect.TypeFor[*big.Int](),
	"atom": reflect.TypeFor[wire.Atom](), "pid": reflect.TypeFor[wire.PID](), "ref": reflect.TypeFor[wire.Ref](),
	"port": reflect.TypeFor[wire.Port](), "tuple": reflect.TypeFor[wire.Tuple](), "list": reflect.TypeFor[wire.List](),
	"improper": reflect.TypeFor[wire.ImproperList](), "charlist": reflect.TypeFor[wire.Charlist](),
	"map": reflect.TypeFor[wire.Map](), "bitstring": reflect.TypeFor[wire.Bitstring](), "fun": reflect.TypeFor[wire.Fun](),
	"export": reflect.TypeFor[wire.Export](),
}

var builtinNames = func() map[reflect.Type]string {
	names := make(map[reflect.Type]string, len(builtin))
	for name, t := range builtin {
		names[t] = name
	}
	return names
}()

const (
	// maxExprDepth is the maximum number of types in an expression.
	maxExprDepth = 8
	// maxPeerTypes is the maximum number of types that peers may make a program compose. A type lives as long as the
	// program.
	maxPeerTypes = 1000
)

// exprOf returns the expression of a type, or the type in it that must be registered.
func (t *table) exprOf(typ reflect.Type, depth int) (expr string, missing reflect.Type) {
	if name := builtinNames[typ]; name != "" {
		return name, nil
	}
	if g := t.byType.Of(typ); g != nil && isPlainName(string(g.name)) {
		return string(g.name), nil
	}
	if typ.Name() != "" || depth == maxExprDepth {
		return "", typ
	}
	var before string
	switch typ.Kind() {
	case reflect.Slice:
		before = "[]"
	case reflect.Array:
		if !arrayFits(typ.Len(), typ.Elem()) {
			return "", typ
		}
		before = "[" + itoa(typ.Len()) + "]"
	case reflect.Pointer:
		before = "*"
	case reflect.Map:
		key, missing := t.exprOf(typ.Key(), depth+1)
		if missing != nil {
			return "", missing
		}
		before = "map[" + key + "]"
	default:
		return "", typ
	}
	elem, missing := t.exprOf(typ.Elem(), depth+1)
	return before + elem, missing
}

// isPlainName reports whether a registered name can be used in an expression.
func isPlainName(name string) bool { return builtin[name] == nil && !strings.ContainsAny(name, "[]*") }

// typeOf is the reverse of exprOf for the longest expression at the beginning of expr. It returns nil for an invalid
// expression or unknown names.
func (t *table) typeOf(expr string, depth int) (typ reflect.Type, rest string) {
	if depth > maxExprDepth {
		return nil, ""
	}
	if after, ok := strings.CutPrefix(expr, "[]"); ok {
		if typ, rest = t.typeOf(after, depth+1); typ != nil {
			typ = reflect.SliceOf(typ)
		}
		return typ, rest
	}
	if after, ok := strings.CutPrefix(expr, "*"); ok {
		if typ, rest = t.typeOf(after, depth+1); typ != nil {
			typ = reflect.PointerTo(typ)
		}
		return typ, rest
	}
	if after, ok := strings.CutPrefix(expr, "map["); ok {
		key, rest := t.typeOf(after, depth+1)
		if key == nil || !key.Comparable() || holdsAny(key, map[reflect.Type]bool{}) || !strings.HasPrefix(rest, "]") {
			return nil, ""
		}
		if typ, rest = t.typeOf(rest[1:], depth+1); typ != nil {
			typ = reflect.MapOf(key, typ)
		}
		return typ, rest
	}
	if after, ok := strings.CutPrefix(expr, "["); ok {
		length, after, _ := strings.Cut(after, "]")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || strconv.Itoa(n) != length {
			return nil, ""
		}
		if typ, rest = t.typeOf(after, depth+1); typ == nil || !arrayFits(n, typ) {
			return nil, ""
		}
		return reflect.ArrayOf(n, typ), rest
	}
	end := strings.IndexAny(expr, "[]*")
	if end < 0 {
		end = len(expr)
	}
	name := expr[:end]
	if typ = builtin[name]; typ != nil {
		return typ, expr[end:]
	}
	if g := t.byName.Of(wire.Atom(name)); g != nil {
		return g.typ, expr[end:]
	}
	return nil, ""
}

// maxArray is the maximum size in bytes of an array whose type is an expression.
const maxArray = 64 << 10

func arrayFits(n int, elem reflect.Type) bool {
	return n <= maxArray && uint64(n)*uint64(elem.Size()) <= maxArray
}

// exact returns the type of v if it has an expression, or the type in it that must be registered.
func (t *Types) exact(v any) (g *goType, missing reflect.Type) {
	typ := reflect.TypeOf(v)
	table := &t.table
	if g := table.exactByType.Of(typ); g != nil {
		return g, nil
	}
	expr, missing := table.exprOf(typ, 0)
	if missing != nil || len(expr) > wire.MaxAtomRunes {
		return nil, missing
	}
	return t.enter(typ, expr), nil
}

// expressed returns the type of an expression sent by a peer, or nil if it cannot be read.
func (t *Types) expressed(name wire.Atom) *goType {
	if t == nil {
		return nil
	}
	table := &t.table
	if g := table.exactByName.Of(name); g != nil {
		return g
	}
	if table.exactByName.Len() >= maxPeerTypes && builtin[string(name)] == nil || len(name) > wire.MaxAtomRunes {
		return nil
	}
	typ, rest := table.typeOf(string(name), 0)
	if typ == nil || rest != "" || !needsExpr(typ) {
		return nil
	}
	return t.enter(typ, string(name))
}

// needsExpr reports whether values of a type would arrive with another type without an expression.
func needsExpr(typ reflect.Type) bool {
	zero := reflect.Zero(typ).Interface()
	if _, single := zero.(float32); single || sizedName(zero) != "" {
		return true
	}
	return typ != anyType && typ != errorType && !isTerm(zero)
}

// enter makes the plan of an expression's type, or returns nil if it cannot be sent.
func (t *Types) enter(typ reflect.Type, expr string) *goType {
	g := &goType{name: wire.Atom(expr), typ: typ}
	var err error
	if g.plan, err = planOf(typ); err != nil {
		return nil
	}
	g.plan.beStrict()
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.table.exactByType.Of(typ); old != nil {
		return old
	}
	t.table.exactByName.Add(g.name, g)
	t.table.exactByType.Add(typ, g)
	return g
}

// beStrict requires all elements of the arrays in an expression, because a peer can specify any length.
func (pl *plan) beStrict() {
	for pl != nil && pl.typ.Name() == "" {
		pl.strict = pl.op == opArray || pl.op == opByteArray
		if pl.op == opStruct {
			return
		}
		pl = pl.elem
	}
}

// isExact reports whether Go types are preserved, including those of terms.
func (w *writing) isExact() bool { return w.Types != nil && !w.Erlang && !w.Former }

// exactly writes t if its type has an expression.
func (w *writing) exactly(t any) (done bool, err error) {
	if !w.isExact() {
		return false, nil
	}
	g, _ := w.Types.exact(t)
	if g == nil {
		return false, nil
	}
	w.mark(2, markTyped)
	if err := w.atom(g.name); err != nil {
		return true, err
	}
	return true, w.of(g, w.boxed(g.plan, reflect.ValueOf(t)))
}

// sized writes the header of a number of a builtin type.
func (w *writing) sized(name wire.Atom) error {
	w.mark(2, markTyped)
	return w.atom(name)
}

// typedValue reads a value with a type expression, after its mark.
func (r *reading) typedValue(at, n int, next *level) (left int, v any, err error) {
	if n != 2 {
		return 0, nil, r.failAt(at, ErrMalformed, "a value with its type in %d elements, not 2", n)
	}
	name, err := r.atomHere("a type")
	if err != nil {
		return 0, nil, err
	}
	r.pending--
	untyped, m := r.untyped, (*misfit)(nil)
	if g := r.d.Types.expressed(name); g != nil && !untyped {
		v, ok, err := r.goValue(at, g.plan, false)
		if ok || err != nil {
			return 0, v, err
		}
		r.untyped = true
		if r.d.Strict {
			m = r.misfits(g)
		}
	}
	next.kind, next.value = inTyped, &openValue{standalone: r.standalone, untyped: untyped, misfit: m}
	r.standalone = true
	return 1, nil, nil
}

// Missing returns the type that must be registered to send v, or nil.
func (t *Types) Missing(v any) reflect.Type {
	if g, _ := t.of(v); g != nil {
		return nil
	}
	_, missing := t.exact(v)
	return missing
}

package watch

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/actornode/actornode/wire"
)

// maxText is the maximum number of bytes shown of a text.
const maxText = 1 << 10

// Of returns the description of a value for a log: its type and its size; the value if it is a number, an atom or an
// identifier; {tag, …} for a tuple that begins with an atom; and the result of LogValue or Error, if it has such a method.
func Of(v any) string {
	if text, ok := wire.LogText(v, maxText); ok {
		return reflect.TypeOf(v).String() + " " + text
	}
	if err, ok := v.(error); ok {
		return reflect.TypeOf(v).String() + " " + wire.Describe(err, maxText)
	}
	if s, ok := v.(fmt.Stringer); ok && ours(reflect.TypeOf(v)) {
		return reflect.TypeOf(v).String() + " " + wire.Describe(s, maxText)
	}
	switch v.(type) {
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return wire.Formatter{Max: maxText}.Format(v)
	}
	return Type(v)
}

// Type is Of without any method of the value, and with only the type of a number.
func Type(v any) string {
	switch v := v.(type) {
	case nil, wire.Atom, wire.PID, wire.Ref, wire.Port, wire.Export:
		return wire.Formatter{Max: maxText}.Format(v)
	case wire.List:
		if len(v) == 0 {
			return "[]"
		}
	case wire.Tuple:
		if len(v) == 0 {
			return "{}"
		}
		tag, ok := v[0].(wire.Atom)
		switch {
		case !ok:
			return fmt.Sprintf("a tuple of %d", len(v))
		case len(v) == 1:
			return "{" + wire.Format(tag) + "}"
		}
		return fmt.Sprintf("{%s, …} of %d", wire.Format(tag), len(v))
	}
	return wire.TypeAndSize(v)
}

// ours reports whether a type belongs to this module, whose String shows nothing of a user's.
func ours(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), module) && t.PkgPath() != module+"wire" && !strings.HasSuffix(t.PkgPath(), "_test")
}

const module = "github.com/actornode/actornode/"

package pack

import (
	"reflect"
	"strconv"

	"github.com/actornode/actornode/internal/wire/fault"
)

// faults makes the errors of this package.
const faults fault.Package = "pack"

// at adds to err its position in the term: the part that each open level was writing.
func at(stack []parts, err error) error { return faults.Within(fault.Path(stack, appendStep), err) }

func appendStep(path []byte, p *parts) []byte {
	switch {
	case p.kind == inTuple:
		return fault.Index(path, "{", p.i, "}")
	case p.kind == inFun:
		return fault.Index(path, "fun[", p.i, "]")
	case p.kind == inMap:
		return fault.Pair(path, p.terms[(p.i-1)&^1], p.i%2 == 1)
	case p.kind == inImproper && p.i == 0:
		return append(path, "[|]"...)
	}
	return fault.Index(path, "[", p.i, "]")
}

func itoa(i int) string { return strconv.Itoa(i) }

// pathKey returns the path step to a map's value for key.
func pathKey(key reflect.Value) []byte { return fault.Pair(nil, key.Interface(), false) }

package etfcodec

import "github.com/actornode/actornode/internal/wire/fault"

// faults makes the errors of this package.
const faults fault.Package = "etf"

// at adds to err its position in the term: the part that each open level was writing.
func at(stack []parts, err error) error {
	if len(stack) == 0 {
		return err
	}
	return faults.Within(fault.Path(stack, appendStep), err)
}

func appendStep(path []byte, p *parts) []byte {
	switch {
	case p.kind == inTuple:
		return fault.Index(path, "{", p.i, "}")
	case p.kind == inMap:
		return fault.Pair(path, p.terms[(p.i-1)&^1], p.i%2 == 1)
	case p.kind == inFun:
		return fault.Index(path, "fun[", p.i, "]")
	case p.i > len(p.terms):
		return append(path, "[|]"...)
	}
	return fault.Index(path, "[", p.i, "]")
}

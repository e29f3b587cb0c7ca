package etf

import (
	"strconv"

	"github.com/actornode/actornode/wire"
)

// maxPathSteps is how many steps of a path are shown at each end of a long one.
const maxPathSteps = 8

// maxKeyShown is how many characters of a key are shown.
const maxKeyShown = 40

// at adds to err where in the term it came up: the part that each open level
// was writing.
func at(stack []parts, err error) error {
	if len(stack) == 0 {
		return err
	}
	var path []byte
	for i := range stack {
		if i >= maxPathSteps && len(stack)-i > maxPathSteps {
			if i == maxPathSteps {
				path = append(path, "…"...)
			}
			continue
		}
		path = appendStep(path, &stack[i])
	}
	return within(string(path), err)
}

func appendStep(path []byte, p *parts) []byte {
	switch p.kind {
	case inTuple:
		return append(strconv.AppendInt(append(path, '{'), int64(p.i), 10), '}')
	case inMap:
		key := []rune(wire.Format(p.terms[(p.i-1)&^1]))
		if len(key) > maxKeyShown {
			key = append(key[:maxKeyShown], '…')
		}
		if p.i%2 == 1 {
			return append(append(append(path, "#{"...), string(key)...), " as key}"...)
		}
		return append(append(append(path, "#{"...), string(key)...), '}')
	case inFun:
		return append(strconv.AppendInt(append(path, "fun["...), int64(p.i), 10), ']')
	}
	if p.i > len(p.terms) {
		return append(path, "[|]"...)
	}
	return append(strconv.AppendInt(append(path, '['), int64(p.i), 10), ']')
}

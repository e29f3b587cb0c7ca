package pack

import (
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// How much of a path is shown: steps at each end of a long one, characters of a
// key, bytes of an error's path in all.
const (
	maxPathSteps = 8
	maxKeyShown  = 40
	maxPath      = 600
)

// at adds to err where in the term it came up: the part that each open level
// was writing.
func at(stack []parts, err error) error {
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

// within returns err with a path before its own. An error of a caller's hook
// becomes the kind of a fault.
func within(path string, err error) error {
	f, ok := err.(*fault)
	if !ok {
		f = &fault{kind: err, text: err.Error()}
	}
	path += f.path
	if len(path) > maxPath { // the middle of a long path says least
		path = strings.ToValidUTF8(path[:maxPath/3]+"…"+path[len(path)-maxPath/2:], "")
	}
	return &fault{f.kind, path, f.text}
}

func appendStep(path []byte, p *parts) []byte {
	step := func(open, closed string) []byte {
		return append(strconv.AppendInt(append(path, open...), int64(p.i), 10), closed...)
	}
	switch p.kind {
	case inTuple:
		return step("{", "}")
	case inFun:
		return step("fun[", "]")
	case inMap:
		key := []rune(wire.Format(p.terms[(p.i-1)&^1]))
		if len(key) > maxKeyShown {
			key = append(key[:maxKeyShown], '…')
		}
		path = append(append(path, "#{"...), string(key)...)
		if p.i%2 == 1 {
			path = append(path, " as key"...)
		}
		return append(path, '}')
	}
	if p.kind == inImproper && p.i == 0 {
		return append(path, "[|]"...)
	}
	return step("[", "]")
}

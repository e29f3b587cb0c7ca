package values

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// BoundStack returns the part of a stack that is sent.
func BoundStack(stack []byte) []byte { return stack[:min(len(stack), MaxStack)] }

// StackTerm converts the stack of a goroutine, as printed by package debug, to a stack trace of Erlang: [{Module, Function,
// 0, [{file, File}, {line, Line}]}]. The functions called by the panic itself are left out.
func StackTerm(stack []byte) wire.List {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[i+2:]
			break
		}
	}
	all := wire.List{}
	for i := 0; i+1 < len(lines) && len(all) < MaxFrames; i++ {
		function, place := lines[i], lines[i+1]
		if !strings.HasPrefix(place, "\t") || strings.HasPrefix(function, "\t") {
			continue
		}
		i++
		all = append(all, frame(function, place))
	}
	return all
}

// frame returns an element of a stack trace, from two lines such as
//
//	example.com/shop.(*Cart).Add(0xc000012345, {0x1, 0x2})
//		/src/shop/cart.go:12 +0x1d
func frame(function, place string) wire.Tuple {
	function = strings.TrimPrefix(function, "created by ")
	function, _, _ = strings.Cut(function, " in goroutine ")
	if end := strings.LastIndexByte(function, '('); end > 0 && strings.HasSuffix(function, ")") {
		function = function[:end]
	}
	slash := strings.LastIndexByte(function, '/') + 1
	pkg, name, _ := strings.Cut(function[slash:], ".")
	place, _, _ = strings.Cut(strings.TrimPrefix(place, "\t"), " ")
	file, line := place, 0
	if colon := strings.LastIndexByte(place, ':'); colon >= 0 {
		if n, err := strconv.Atoi(place[colon+1:]); err == nil {
			file, line = place[:colon], n
		}
	}
	return wire.Tuple{atom(function[:slash] + pkg), atom(name), 0, wire.List{
		wire.Tuple{wire.Atom("file"), wire.Charlist(Cut(file))},
		wire.Tuple{wire.Atom("line"), line},
	}}
}

// atom returns a text as an atom: only its end, if it is too long.
func atom(s string) wire.Atom {
	if r := []rune(strings.ToValidUTF8(s, "?")); len(r) > wire.MaxAtomRunes {
		return wire.Atom(r[len(r)-wire.MaxAtomRunes:])
	} else if len(r) != len(s) {
		return wire.Atom(r)
	}
	return wire.Atom(s)
}

// readStack is the inverse of StackTerm, as text. It returns false if t is no stack trace.
func readStack(t any) ([]byte, bool) {
	frames, ok := wire.AsList(t)
	if !ok || len(frames) > MaxFrames {
		return nil, false
	}
	var b bytes.Buffer
	for _, f := range frames {
		t, ok := f.(wire.Tuple)
		if !ok || len(t) != 4 {
			return nil, false
		}
		module, ok1 := t[0].(wire.Atom)
		name, ok2 := t[1].(wire.Atom)
		info, ok3 := wire.AsList(t[3])
		if !ok1 || !ok2 || !ok3 {
			return nil, false
		}
		file, line := "?", 0
		for _, i := range info {
			i, ok := i.(wire.Tuple)
			if !ok || len(i) != 2 {
				return nil, false
			}
			switch i[0] {
			case wire.Atom("file"):
				file, ok = fileName(i[1])
			case wire.Atom("line"):
				line, ok = i[1].(int)
			}
			if !ok {
				return nil, false
			}
		}
		fmt.Fprintf(&b, "%s.%s(...)\n\t%s:%d\n", string(module), string(name), file, line)
	}
	return BoundStack(b.Bytes()), true
}

func fileName(t any) (string, bool) {
	if s, ok := binary(t); ok {
		return s, true
	}
	s, ok := wire.AsText(t)
	return Cut(s), ok
}

package wire

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// Compare orders two terms as Erlang does: negative if a < b, 0 if a == b,
// positive if a > b. The order of the types is
//
//	number < atom < reference < fun < port < pid < tuple < map < list < bitstring
//
// with [] the least list. Numbers compare by exact value, so 1 and 1.0 are equal here although not for [Equal]; tuples by
// size, then element by element; maps by size, then by keys in key order (integers before floats), then by values;
// everything else from left to right. Foreign Go values come after all terms, ordered by the name of their type, and
// otherwise tie. See "Term Comparisons" in the Erlang Reference Manual.
//
// Terms are walked with a stack on the heap, so depth costs memory, not goroutine stack. (Maps of more than 32 pairs that
// are keys of each other do cost goroutine stack.)
func Compare(a, b any) int { return compare(a, b, standard) }

// Equal reports whether a and b are the same term, like Erlang's =:=. The Go types of a term do not matter (int8(1) and a
// big 1 are equal, and so are "ab" and []byte("ab"), or true and Atom("true")), but 1 and 1.0 differ, and so do 0.0 and
// -0.0 (as in OTP 27 and newer). Foreign Go values are compared with Go's == if they are comparable, slices and maps by
// identity; functions are never equal. Equal never panics.
func Equal(a, b any) bool {
	switch x := a.(type) { // fast path for the types of tags and names
	case Atom:
		if y, ok := b.(Atom); ok {
			return x == y
		}
	case int:
		if y, ok := b.(int); ok {
			return x == y
		}
	case PID:
		y, ok := b.(PID)
		return ok && x == y
	}
	return compare(a, b, identity) == 0
}

// mode defines which terms compare treats as equal.
type mode uint8

const (
	standard mode = iota // 1 and 1.0 are: Erlang's ==
	exact                // equal terms only, except foreign values that tie; integers before floats
	identity             // equal terms only; the order is undefined
)

// class is the place of a type in the order of types.
type class uint8

const (
	classNumber class = iota
	classAtom
	classRef
	classFun
	classExport // the funs that Erlang orders after the others
	classPort
	classPID
	classTuple
	classMap
	classList
	classBits
	classForeign
)

func classOf(t any) class {
	switch t := t.(type) {
	case Atom, bool:
		return classAtom
	case int, int64, float64, uint8, int8, int16, int32, uint, uint16, uint32, uint64, uintptr, float32:
		return classNumber
	case string, []byte, Bitstring:
		return classBits
	case nil, List, Charlist:
		return classList
	case Tuple:
		return classTuple
	case PID:
		return classPID
	case Ref:
		return classRef
	case Map:
		return classMap
	case ImproperList:
		if len(t.Head) == 0 {
			return classOf(t.Tail)
		}
		return classList
	case Fun:
		return classFun
	case Export:
		return classExport
	case Port:
		return classPort
	case *big.Int:
		if t != nil {
			return classNumber
		}
	}
	return classForeign
}

// bare unwraps improper lists without a head: such a list is its tail.
func bare(t any) any {
	for {
		l, ok := t.(ImproperList)
		if !ok || len(l.Head) > 0 {
			return t
		}
		t = l.Tail
	}
}

// atomOf returns the atom of an Atom or bool.
func atomOf(t any) Atom {
	switch t := t.(type) {
	case Atom:
		return t
	case bool:
		if t {
			return AtomTrue
		}
	}
	return AtomFalse
}

// pairOfCells is one level of a comparison: two compound terms and how far
// each has been walked.
type pairOfCells struct {
	a, b cells
	mode mode
}

func compare(a, b any, m mode) int {
	c, deep := compareOne(a, b, m)
	if c != 0 || !deep {
		return c
	}
	var buf [6]pairOfCells // up to this depth, no allocation
	in, n, c := enter(a, b, m)
	stack := append(buf[:0], in[:n]...)
	for c == 0 && len(stack) > 0 {
		top := &stack[len(stack)-1]
		m := top.mode
		x, okx := top.a.next()
		y, oky := top.b.next()
		switch {
		case !okx && !oky:
			x, y = top.a.tail(), top.b.tail()
			stack = stack[:len(stack)-1]
			if x == nil && y == nil {
				continue
			}
		case !okx:
			return compareEnd(top.a.tail())
		case !oky:
			return -compareEnd(top.b.tail())
		}
		if c, deep = compareOne(x, y, m); deep && c == 0 {
			in, n, c = enter(x, y, m)
			stack = append(stack, in[:n]...)
		}
	}
	return c
}

// compareEnd compares the tail of a list that has ended with a list that continues.
func compareEnd(tail any) int {
	if tail == nil {
		return -1 // [] is the least list
	}
	return cmp.Compare(classOf(tail), classList)
}

// enter returns the contents of two compound terms that compareOne could not distinguish: n levels, the last of which must
// be walked first. In mode identity it may find that the terms differ, and returns c.
func enter(a, b any, m mode) (in [2]pairOfCells, n, c int) {
	a, b = bare(a), bare(b)
	switch x := a.(type) {
	case Fun:
		in[0] = pairOfCells{cellsOf(List(x.Free)), cellsOf(List(b.(Fun).Free)), m}
		return in, 1, 0
	case Map:
		return enterMaps(x.body, b.(Map).body, m)
	}
	in[0] = pairOfCells{cellsOf(a), cellsOf(b), m}
	return in, 1, 0
}

func enterMaps(a, b *mapBody, m mode) (in [2]pairOfCells, n, c int) {
	keys := exact
	if m == identity {
		keys = identity
		if a.unordered() || b.unordered() {
			if b = b.aligned(a); b == nil {
				return in, 0, 1
			}
			in[0] = pairOfCells{cellsOf(valuesOf{a}), cellsOf(valuesOf{b}), m}
			return in, 1, 0
		}
	}
	a, b = a.ordered(), b.ordered()
	in[0] = pairOfCells{cellsOf(valuesOf{a}), cellsOf(valuesOf{b}), m}
	in[1] = pairOfCells{cellsOf(keysOf{a}), cellsOf(keysOf{b}), keys}
	return in, 2, 0
}

// compareOne compares two terms without their contents. deep reports that a result of 0 still depends on the contents.
func compareOne(a, b any, m mode) (c int, deep bool) {
	switch x := a.(type) { // the most common pairs first
	case Atom:
		if y, ok := b.(Atom); ok {
			return strings.Compare(string(x), string(y)), false
		}
	case int:
		if y, ok := b.(int); ok {
			return cmp.Compare(x, y), false
		}
	}
	ca, cb := classOf(a), classOf(b)
	if ca != cb {
		return cmp.Compare(ca, cb), false
	}
	if _, ok := a.(ImproperList); ok {
		a = bare(a)
	}
	if _, ok := b.(ImproperList); ok {
		b = bare(b)
	}
	switch ca {
	case classNumber:
		return compareNum(numOf(a), numOf(b), m), false
	case classAtom:
		return strings.Compare(string(atomOf(a)), string(atomOf(b))), false
	case classRef:
		return compareRef(a.(Ref), b.(Ref)), false
	case classFun:
		return compareFun(a.(Fun), b.(Fun), m), true
	case classExport:
		return compareExport(a.(Export), b.(Export)), false
	case classPort:
		x, y := a.(Port), b.(Port)
		return cmp.Or(compareNode(x.node, y.node), cmp.Compare(x.id, y.id)), false
	case classPID:
		x, y := a.(PID), b.(PID)
		return cmp.Or(cmp.Compare(x.id, y.id), compareNode(x.node, y.node)), false
	case classTuple:
		return cmp.Compare(len(a.(Tuple)), len(b.(Tuple))), true
	case classMap:
		x, y := a.(Map), b.(Map)
		return cmp.Compare(x.Len(), y.Len()), x.body != y.body && x.Len() > 0
	case classList:
		return 0, true
	case classBits:
		s, n := bitsOf(a)
		t, k := bitsOf(b)
		return cmp.Or(strings.Compare(s, t), cmp.Compare(n, k)), false
	}
	if m == identity {
		return boolInt(!sameForeign(a, b)), false
	}
	return compareForeign(a, b), false
}

// compareNode orders two node incarnations by name, then creation.
func compareNode(a, b internedNode) int {
	if a == b {
		return 0
	}
	x, y := Origin{a}.NodeID(), Origin{b}.NodeID()
	return cmp.Or(strings.Compare(string(x.Name), string(y.Name)), cmp.Compare(x.Creation, y.Creation))
}

// compareRef orders by node, then by the words, most significant first. A missing word counts as 0, also for equality.
func compareRef(a, b Ref) int {
	if c := compareNode(a.node, b.node); c != 0 {
		return c
	}
	for i := MaxRefWords - 1; i >= 0; i-- {
		if c := cmp.Compare(a.w[i], b.w[i]); c != 0 {
			return c
		}
	}
	return 0
}

// compareFun compares all but the free variables themselves.
func compareFun(a, b Fun, m mode) int {
	c := cmp.Or(
		strings.Compare(string(a.Module), string(b.Module)),
		cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.OldUniq, b.OldUniq),
		cmp.Compare(len(a.Free), len(b.Free)))
	if c == 0 && m != standard {
		c = slices.Compare(a.Uniq[:], b.Uniq[:])
	}
	return c
}

func compareExport(a, b Export) int {
	return cmp.Or(
		strings.Compare(string(a.Module), string(b.Module)),
		strings.Compare(string(a.Function), string(b.Function)),
		cmp.Compare(a.Arity, b.Arity))
}

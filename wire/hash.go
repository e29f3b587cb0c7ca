package wire

import (
	"hash/maphash"
	"slices"
)

// seed makes the hashes of each run different, so that a peer cannot choose keys that collide.
var seed = maphash.MakeSeed()

// hashOf returns a hash of t that is the same for all Equal terms. Like
// compare, it keeps the depth of t on the heap.
func hashOf(t any) uint64 {
	t = bare(t)
	switch k := t.(type) {
	case Atom:
		return maphash.String(seed, string(k))
	case int:
		return maphash.Comparable(seed, int64(k))
	}
	var h maphash.Hash
	h.SetSeed(seed)
	if inside, deep := hashOne(&h, t); deep {
		hashInside(&h, inside)
	} else if classOf(t) == classAtom {
		return maphash.String(seed, string(atomOf(t)))
	} else if x := numOf(t); x.kind == numSmall {
		return maphash.Comparable(seed, x.small)
	}
	return h.Sum64()
}

func hashInside(h *maphash.Hash, inside cells) {
	var buf [8]cells
	stack := append(buf[:0], inside)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		t, ok := top.next()
		if !ok {
			t = top.tail()
			stack = stack[:len(stack)-1]
			h.WriteByte(0xff)
			if t == nil {
				continue
			}
		}
		if inside, deep := hashOne(h, t); deep {
			stack = append(stack, inside)
		}
	}
}

// hashOne hashes t without its contents and returns the contents, if any.
func hashOne(h *maphash.Hash, t any) (inside cells, deep bool) {
	t = bare(t)
	c := classOf(t)
	h.WriteByte(byte(c))
	switch c {
	case classNumber:
		hashNum(h, numOf(t))
	case classAtom:
		hashText(h, string(atomOf(t)))
	case classRef:
		r := t.(Ref)
		r.n = 0 // missing words count as 0
		maphash.WriteComparable(h, r)
	case classFun:
		f := t.(Fun)
		hashText(h, string(f.Module))
		maphash.WriteComparable(h, f.Index)
		maphash.WriteComparable(h, f.OldUniq)
		return cellsOf(List(f.Free)), true
	case classExport:
		maphash.WriteComparable(h, t.(Export))
	case classPort:
		maphash.WriteComparable(h, t.(Port))
	case classPID:
		maphash.WriteComparable(h, t.(PID))
	case classTuple:
		maphash.WriteComparable(h, len(t.(Tuple)))
		return cellsOf(t), true
	case classMap:
		m := t.(Map)
		maphash.WriteComparable(h, m.Len())
		if m.Len() == 0 {
			return cells{}, false
		}
		return m.body.hashable(), true
	case classList:
		return cellsOf(t), true
	case classBits:
		s, n := bitsOf(t)
		maphash.WriteComparable(h, n)
		h.WriteString(s)
	}
	return cells{}, false // foreign values of equal hash are distinguished by Equal
}

// hashable returns the keys and values in key order. The values of keys that tie are omitted, because such keys hash alike
// and have no defined order.
func (b *mapBody) hashable() cells {
	if !b.unordered() {
		return cellsOf(pairsOf{b})
	}
	pairs := slices.Clone(b.ordered().pairs)
	for i := range len(pairs) - 1 {
		if compare(pairs[i].Key, pairs[i+1].Key, exact) == 0 {
			pairs[i].Value, pairs[i+1].Value = nil, nil
		}
	}
	return cellsOf(pairsOf{&mapBody{pairs: pairs}})
}

func hashNum(h *maphash.Hash, x num) {
	switch x.kind {
	case numSmall:
		maphash.WriteComparable(h, x.small)
	case numBig:
		h.WriteByte(byte(x.big.Sign()))
		h.Write(x.big.Bytes())
	case numFloat:
		h.WriteByte(byte(signOf(x.float)))
		if x.float == x.float { // maphash would hash NaN randomly
			maphash.WriteComparable(h, x.float)
		}
	}
}

func hashText(h *maphash.Hash, s string) {
	maphash.WriteComparable(h, len(s))
	h.WriteString(s)
}

package wire

import "unicode/utf8"

// cells walks the parts of one compound term in order: the elements of a tuple or a list (in each of its Go types), the
// keys, values or pairs of a map. Walking with a stack of cells keeps the depth of a term on the heap, so that no term,
// however deep, can exhaust a goroutine's stack.
type cells struct {
	t     any // the term being walked; after next has returned false, the tail
	i     int // position in t
	tuple bool
}

// The parts of a map that cells can walk. The pairs of the body are in key order.
type (
	keysOf   struct{ *mapBody }
	valuesOf struct{ *mapBody }
	pairsOf  struct{ *mapBody } // key, value, key, value, …
)

// cellsOf returns the cells of a tuple, a list, or one of the parts above.
func cellsOf(t any) cells {
	_, tuple := t.(Tuple)
	return cells{t: t, tuple: tuple}
}

// next returns the next part, or false after the last.
func (c *cells) next() (any, bool) {
	for {
		i := c.i
		switch t := c.t.(type) {
		case List:
			if i < len(t) {
				c.i++
				return t[i], true
			}
			c.t = nil
		case Tuple:
			if !c.tuple {
				return nil, false // the tail of a list
			}
			if i < len(t) {
				c.i++
				return t[i], true
			}
			c.t = nil
		case ImproperList:
			if i < len(t.Head) {
				c.i++
				return t.Head[i], true
			}
			c.t, c.i = t.Tail, 0
			continue
		case Charlist:
			if i < len(t) {
				r, n := utf8.DecodeRuneInString(string(t[i:]))
				c.i += n
				return int(r), true
			}
			c.t = nil
		case keysOf:
			if i < len(t.pairs) {
				c.i++
				return t.pairs[i].Key, true
			}
			c.t = nil
		case valuesOf:
			if i < len(t.pairs) {
				c.i++
				return t.pairs[i].Value, true
			}
			c.t = nil
		case pairsOf:
			if i < 2*len(t.pairs) {
				c.i++
				if i%2 == 0 {
					return t.pairs[i/2].Key, true
				}
				return t.pairs[i/2].Value, true
			}
			c.t = nil
		}
		return nil, false
	}
}

// tail returns what follows the last part, after next has returned false: nil, except for an improper list.
func (c *cells) tail() any { return c.t }

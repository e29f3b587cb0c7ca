package pack

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/actornode/actornode/wire"
)

type levelKind uint8

const (
	inTuple levelKind = iota
	inList
	inImproper
	inMap
	inFun
	inValue // of an unknown type
	inTerm  // an extTerm
	inTyped // of a type whose expression cannot be read
	inReference
)

// parts is a partly written compound term.
type parts struct {
	kind  levelKind
	keys  int32 // nesting depth in keys of maps
	terms []any
	i     int
	first any // written before terms: the tail of an improper list; or the map itself
	lead  bool
	at    int  // length of flat without it
	deep  bool // it is remembered: see enter
}

// compound writes the parts of a compound term, keeping its depth on the heap.
func (w *writing) compound(next *parts) error {
	nested := w.nested
	w.nested = true
	err := w.levels(next)
	w.nested = nested
	return err
}

func (w *writing) levels(next *parts) error {
	if err := w.begin(next, 0); err != nil {
		return err
	}
	var buf [5]parts
	stack := append(buf[:0], *next)
	for {
		top := &stack[len(stack)-1]
		var t any
		switch {
		case top.lead:
			t, top.lead = top.first, false
		case top.i < len(top.terms):
			t = top.terms[top.i]
			top.i++
		default:
			w.flat = w.flat[:top.at]
			if top.deep {
				w.leave(top.place())
			}
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return nil
			}
			continue
		}
		open, err := w.one(t, next)
		if err == nil {
			err = w.room()
		}
		if open && err == nil {
			err = w.nest(top, next)
		}
		if open && err == nil {
			err = w.begin(next, len(stack))
		}
		if err != nil {
			return at(stack, err)
		}
		if open {
			stack = append(stack, *next)
		}
	}
}

// begin checks that next may be opened within depth levels.
func (w *writing) begin(next *parts, depth int) error {
	most := w.Depth
	if most <= 0 {
		most = MaxDepth
	}
	if depth >= most {
		return faults.New(ErrLimit, "nested deeper than %d levels", most)
	}
	if next.deep = depth >= deepTerms || w.inner >= deepInner; next.deep {
		return w.enter(next.place())
	}
	return nil
}

// nest counts the keys around next, which is opened within top, and checks their [Limits].
func (w *writing) nest(top, next *parts) error {
	next.keys = top.keys
	if top.kind == inMap && top.i%2 == 1 {
		next.keys++
	}
	if next.kind != inMap || next.keys == 0 {
		return nil
	}
	if next.keys > maxKeys {
		return faults.New(ErrLimit, "maps nested in keys of maps deeper than %d", maxKeys)
	}
	large := w.LargeKeys
	if large <= 0 {
		large = maxLargeKeys
	}
	if int(next.keys) > large && len(next.terms) > 2*maxSorted {
		return faults.New(ErrLimit, "a map of more than %d pairs nested in keys of maps deeper than %d", maxSorted, large)
	}
	return nil
}

// open fills next, and reports whether there are parts.
func (w *writing) open(next *parts, kind levelKind, terms []any, from int) bool {
	*next = parts{kind: kind, terms: terms, at: from}
	return len(terms) > 0
}

func (w *writing) tuple(t wire.Tuple, next *parts) (open bool, err error) {
	if err := fits(len(t)+1, "the elements of a tuple"); err != nil {
		return false, err
	}
	w.dst = append(appendCount(w.dst, len(t)+1, fixArray, tagArray16), tagNil)
	return w.open(next, inTuple, t, len(w.flat)), nil
}

// elements writes a proper list, whose elements may be in flat.
func (w *writing) elements(l []any, from int, next *parts) (open bool, err error) {
	if err := fits(len(l)+1, "the elements of a list"); err != nil {
		return false, err
	}
	if len(l) > 0 && w.nilFirst(l[0]) {
		w.mark(len(l), markList)
	} else {
		w.dst = appendCount(w.dst, len(l), fixArray, tagArray16)
	}
	return w.open(next, inList, l, from), nil
}

// nilFirst reports whether a list that begins with t must be marked, because t is, or may be, nil on the wire.
func (w *writing) nilFirst(t any) bool {
	switch {
	case t == nil:
		return true
	case t == wire.AtomUndefined:
		return w.Erlang
	case w.Foreign == nil || isTerm(t):
		return false
	}
	known, _ := w.Types.of(t)
	return known == nil
}

// mark writes the header of an array of n elements with a mark.
func (w *writing) mark(n int, kind byte) {
	w.dst = append(appendCount(w.dst, n+1, fixArray, tagArray16), tagFixExt1, extMark, kind)
}

func (w *writing) mapping(m wire.Map, next *parts) (open bool, err error) {
	if err := fits(m.Len(), "the pairs of a map"); err != nil {
		return false, err
	}
	w.dst = appendCount(w.dst, m.Len(), fixMap, tagMap16)
	from := len(w.flat)
	w.flat = slices.Grow(w.flat, 2*m.Len())
	for k, v := range m.Unordered() {
		w.flat = append(w.flat, k, v)
	}
	open = w.open(next, inMap, w.flat[from:], from)
	next.first = m
	return open, nil
}

// charlist writes the list of a text's code points.
func (w *writing) charlist(c wire.Charlist) error {
	n := utf8.RuneCountInString(string(c))
	if err := fits(n, "the elements of a list"); err != nil {
		return err
	}
	w.dst = appendCount(w.dst, n, fixArray, tagArray16)
	for _, r := range string(c) {
		w.dst = AppendUint(w.dst, uint64(r))
	}
	return nil
}

// improper writes an ImproperList, which may turn out to be a proper list, or not a list.
func (w *writing) improper(l wire.ImproperList, next *parts) (open bool, err error) {
	from := len(w.flat)
	head, tail := l.Head, l.Tail
	join := func(more []any) {
		if from == len(w.flat) {
			w.flat = append(w.flat, head...)
		}
		w.flat = append(w.flat, more...)
		head = w.flat[from:]
	}
	for {
		switch t := tail.(type) {
		case nil:
			return w.elements(head, from, next)
		case wire.List:
			join(t)
			return w.elements(head, from, next)
		case wire.Charlist:
			join(t.List())
			return w.elements(head, from, next)
		case wire.ImproperList:
			join(t.Head)
			tail = t.Tail
			continue
		}
		break
	}
	if len(head) == 0 {
		return w.one(tail, next)
	}
	if err := fits(len(head)+2, "the elements of a list"); err != nil {
		return false, err
	}
	w.mark(len(head)+1, markImproper)
	w.open(next, inImproper, head, from)
	next.first, next.lead = tail, true
	return true, nil
}

func (w *writing) export(x wire.Export) error {
	w.mark(3, markExport)
	if err := w.atom(x.Module); err != nil {
		return err
	}
	if err := w.atom(x.Function); err != nil {
		return err
	}
	if x.Arity < 0 || x.Arity > 255 {
		return faults.New(ErrNoTerm, "the arity of a fun is %d, not in 0 to 255", x.Arity)
	}
	w.dst = AppendInt(w.dst, int64(x.Arity))
	return nil
}

// fun writes a fun: its mark, module, fixed fields in one binary, its creator, and its free variables.
func (w *writing) fun(f wire.Fun, next *parts) (open bool, err error) {
	switch {
	case f.Arity < 0 || f.Arity > 255:
		return false, faults.New(ErrNoTerm, "the arity of a fun is %d, not in 0 to 255", f.Arity)
	case int(int32(f.OldIndex)) != f.OldIndex || int(int32(f.OldUniq)) != f.OldUniq:
		return false, faults.New(ErrNoTerm, "the old index %d or uniq %d of a fun is not a signed integer of 32 bits", f.OldIndex,
			f.OldUniq)
	}
	if err := fits(len(f.Free)+4, "the free variables of a fun"); err != nil {
		return false, err
	}
	w.mark(3+len(f.Free), markFun)
	if err := w.atom(f.Module); err != nil {
		return false, err
	}
	w.dst = append(appendBin(w.dst, funBytes), byte(f.Arity))
	w.dst = append(w.dst, f.Uniq[:]...)
	w.dst = binary.BigEndian.AppendUint32(w.dst, f.Index)
	w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(f.OldIndex))
	w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(f.OldUniq))
	if err := w.numbered(extPID, f.PID.Origin(), f.PID.Number()); err != nil {
		return false, err
	}
	return w.open(next, inFun, f.Free, len(w.flat)), nil
}

// funBytes is the size of the binary in a fun: arity:8, uniq, index:32, old
// index:32, old uniq:32.
const funBytes = 1 + 16 + 4 + 4 + 4

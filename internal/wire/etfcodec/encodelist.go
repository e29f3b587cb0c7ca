package etfcodec

import (
	"slices"

	"github.com/actornode/actornode/wire"
)

// A list of any Go type is written in the same form as by term_to_binary: STRING_EXT for up to 65,535 bytes, NIL_EXT for
// none, else LIST_EXT.

func (w *writing) list(l []any, next *parts) (open bool, err error) {
	if len(l) == 0 {
		w.dst = append(w.dst, tagNil)
		return false, nil
	}
	if len(l) <= maxString && w.stringOf(l) {
		return false, nil
	}
	if err := w.head(tagList, len(l), "a list"); err != nil {
		return false, err
	}
	i := w.integers(l)
	if i == len(l) {
		w.dst = append(w.dst, tagNil)
		return false, nil
	}
	*next = parts{kind: inList, terms: l, i: i, at: len(w.flat)}
	return true, nil
}

// integers writes the leading elements of l that are ints, and returns their number.
func (w *writing) integers(l []any) int {
	const most = 5 // maximum bytes of one
	dst := w.dst
	for i, t := range l {
		n, ok := t.(int)
		if !ok || n != int(int32(n)) {
			w.dst = dst
			return i
		}
		if cap(dst)-len(dst) < most {
			dst = slices.Grow(dst, most*min(len(l)-i, 1024))
		}
		if uint(n) < 256 {
			dst = append(dst, tagSmallInteger, byte(n))
		} else {
			dst = append(dst, tagInteger, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		}
	}
	w.dst = dst
	return len(l)
}

// stringOf writes l as a STRING_EXT if all elements are bytes.
func (w *writing) stringOf(l []any) bool {
	from := len(w.dst)
	if _, ok := byteOf(l[0]); !ok {
		return false
	}
	w.dst = append(w.dst, tagString, byte(len(l)>>8), byte(len(l)))
	for _, t := range l {
		c, ok := byteOf(t)
		if !ok {
			w.dst = w.dst[:from]
			return false
		}
		w.dst = append(w.dst, c)
	}
	return true
}

// byteOf returns the integer t as a byte, if it is one.
func byteOf(t any) (byte, bool) {
	n, ok := t.(int)
	if !ok {
		n64, ok := wire.AsInt(t)
		return byte(n64), ok && n64 == int64(byte(n64))
	}
	return byte(n), n == int(byte(n))
}

func (w *writing) charlist(c wire.Charlist, next *parts) (open bool, err error) {
	n, bytes := 0, true
	for _, r := range string(c) {
		n++
		bytes = bytes && r < 256
	}
	switch {
	case n == 0:
		w.dst = append(w.dst, tagNil)
		return false, nil
	case bytes && n <= maxString:
		w.dst = append(w.dst, tagString, byte(n>>8), byte(n))
		for _, r := range string(c) {
			w.dst = append(w.dst, byte(r))
		}
		return false, nil
	}
	if err := w.head(tagList, n, "a list"); err != nil {
		return false, err
	}
	for _, r := range string(c) {
		w.integer(int64(r))
	}
	w.dst = append(w.dst, tagNil)
	return false, nil
}

// improper writes an ImproperList, which may turn out to be a proper list, or not a list.
func (w *writing) improper(l wire.ImproperList, next *parts) (open bool, err error) {
	from := len(w.flat)
	head, tail := l.Head, l.Tail
	for {
		switch t := tail.(type) {
		case nil:
			return w.longer(head, nil, from, next)
		case wire.List:
			return w.longer(head, t, from, next)
		case wire.Charlist:
			return w.longer(head, t.List(), from, next)
		case wire.ImproperList:
			if len(t.Head) > 0 {
				if from == len(w.flat) {
					w.flat = append(w.flat, head...)
				}
				w.flat = append(w.flat, t.Head...)
				head = w.flat[from:]
			}
			tail = t.Tail
			continue
		}
		break
	}
	if len(head) == 0 {
		return w.one(tail, next)
	}
	if err := w.head(tagList, len(head), "a list"); err != nil {
		return false, err
	}
	*next = parts{kind: inTail, terms: head, tail: tail, at: from}
	return true, nil
}

// longer writes the list of head, which may be in flat, and more.
func (w *writing) longer(head, more []any, from int, next *parts) (open bool, err error) {
	if len(head) == 0 {
		head = more
	} else if len(more) > 0 {
		if from == len(w.flat) {
			w.flat = append(w.flat, head...)
		}
		w.flat = append(w.flat, more...)
		head = w.flat[from:]
	}
	open, err = w.list(head, next)
	next.at = from
	if !open {
		w.flat = w.flat[:from]
	}
	return open, err
}

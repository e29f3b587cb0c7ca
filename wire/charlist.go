package wire

import "unicode/utf8"

// Charlist is text that Erlang treats as a list of code points: "abc" in Erlang source is Charlist("abc") here, and equal
// to List{97, 98, 99}. A Go string is a binary instead. A byte of invalid UTF-8 counts as U+FFFD.
//
// Charlist is for senders only: decoders and [Parse] return a List, and [AsText] reads either.
type Charlist string

// String returns the text itself.
func (c Charlist) String() string { return string(c) }

// List returns the code points of c as integers.
func (c Charlist) List() List {
	l := make(List, 0, len(c))
	for _, r := range string(c) {
		l = append(l, int(r))
	}
	return l
}

// AsText reads Erlang's chardata in its three flat forms: a binary of UTF-8 (string, []byte), a list of code points
// (Charlist, List) or an atom. It returns false for anything else, including invalid UTF-8 and surrogates.
func AsText(t any) (string, bool) {
	switch t := t.(type) {
	case string:
		return t, utf8.ValidString(t)
	case []byte:
		return string(t), utf8.Valid(t)
	case Atom:
		return string(t), true
	}
	if classOf(t) != classList {
		return "", false
	}
	var text []byte
	c := cellsOf(t)
	for e, ok := c.next(); ok; e, ok = c.next() {
		r, ok := AsInt(e)
		if !ok || r != int64(rune(r)) || !utf8.ValidRune(rune(r)) {
			return "", false
		}
		text = utf8.AppendRune(text, rune(r))
	}
	return string(text), c.tail() == nil
}

package wire

// List is a proper Erlang list. List(nil), List{} and the untyped nil are all
// the empty list [].
type List []any

// String prints l as [Format] does.
func (l List) String() string { return Format(l) }

// ImproperList is a list whose last tail is not a list: [a, b | c] is ImproperList{Head: []any{a, b}, Tail: c}.
//
// Other forms mean the same as in Erlang: if Tail is a list, the value is the longer list, and if Head is empty, it is
// Tail. Decoders never return those.
type ImproperList struct {
	Head []any
	Tail any
}

// String prints l as [Format] does.
func (l ImproperList) String() string { return Format(l) }

// cons returns the list [head... | tail] in its canonical form: a List if it is proper, an ImproperList if it is not, tail
// itself if head is empty. The result may share memory with head and tail.
func cons(head []any, tail any) any {
	if len(head) == 0 {
		return tail
	}
	switch tail := tail.(type) {
	case nil:
		return List(head)
	case List:
		if len(tail) == 0 {
			return List(head)
		}
		return append(List(head[:len(head):len(head)]), tail...)
	case Charlist:
		return append(List(head[:len(head):len(head)]), tail.List()...)
	case ImproperList:
		return cons(append(head[:len(head):len(head)], tail.Head...), tail.Tail)
	}
	return ImproperList{Head: head, Tail: tail}
}

// AsList returns the elements of a proper list of any type. The result may share memory with t.
func AsList(t any) (List, bool) {
	switch l := t.(type) {
	case nil:
		return nil, true
	case List:
		return l, true
	case Charlist:
		return l.List(), true
	case ImproperList:
		c, ok := cons(l.Head, l.Tail).(List)
		return c, ok
	}
	return nil, false
}

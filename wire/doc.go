// Package wire holds Erlang's terms as Go values: what they are, how they are compared,
// and how they are written and read as text. It holds no codec: packages etf and pack
// turn terms into bytes. Package dist has the seam between a node and its protocols. The
// package needs the standard library only.
//
// # Nouns
//
//   - A term is a Go value of one of the types in the table, and of no type of
//     its own: messages are any.
//   - An identifier ([PID], [Ref], [Port]) names something of one life of a node
//     ([NodeID]); an [Origin] mints them.
//   - A compound ([Tuple], [List], [ImproperList], [Map], [Fun]) holds terms.
//   - A foreign value is any other Go value. It may stand where a term may, as
//     long as it stays on its node.
//
// A message as an Erlang process would send it, matched and answered:
//
//	msg := wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), wire.NewMap(wire.Atom("qty"), 2)}
//
//	item, _ := wire.Text(msg[2])                          // "cart", were it a binary or a string
//	qty, ok := msg[3].(wire.Map).Get(wire.Atom("qty"))    // 2, true
//	wire.Equal(qty, int64(2))                             // true: Go's integer types are one
//	wire.Format(msg)                                      // {add,<go@host.7.0>,"cart",#{qty => 2}}
//
// # Terms
//
// Several Go types may spell one Erlang type, so that senders need not convert.
// [Equal], [Compare], [Format] and the keys of a [Map] see no difference. What
// comes in, from a decoder or from [Parse], always has the type in the last
// column: one type switch of eleven cases covers everything that can arrive.
//
//	Erlang           Go values                                          comes in as
//	integer          int…int64, uint…uint64, uintptr, *big.Int          int, if too small *big.Int
//	float            float64, float32                                   float64
//	atom             Atom, bool (the atoms true and false)              Atom
//	reference        Ref                                                Ref
//	fun              Fun                                                Fun
//	fun m:f/a        Export                                             Export
//	port             Port                                               Port
//	pid              PID                                                PID
//	tuple            Tuple                                              Tuple
//	map              Map                                                Map
//	[]               List(nil), List{}, nil, Charlist("")               List
//	proper list      List, Charlist (text as code points)               List
//	improper list    ImproperList                                       ImproperList
//	binary           []byte, string (its bytes), a Bitstring of bytes   []byte
//	other bitstring  Bitstring                                          Bitstring
//
// Text needs a choice: "abc" in Erlang source is a list, Charlist("abc") here; a
// Go string is the binary <<"abc">>, which is what Elixir and most newer Erlang
// code mean by text. [Text] reads either, [Int] and [Bool] the integers and
// truth values.
//
// The untyped nil is the empty list, as a nil slice of Go and nil in Erlang's own
// sources are; Elixir's nil is Atom("nil"), and "no value" is commonly
// [Undefined]. A named type is not the type it is made of: time.Duration is
// foreign, and so are []any and map[string]any, which could be more than one
// thing. So are NaN and the infinities in effect: they have a place in the order
// of numbers, but Erlang has no such floats and encoders refuse them.
//
// # Invariants
//
//  1. A PID is two words, comparable, and equal by == to every PID of the same
//     number, node name and creation. Ref, Port, Bitstring and Export are
//     comparable too; all other compounds are compared by [Equal].
//  2. Equal(a, b) implies Compare(a, b) == 0 and Format(a) == Format(b). The
//     converse holds for neither: 1 == 1.0, and two node lives print alike.
//  3. Compare is a total order up to ties, and numbers compare by exact value.
//  4. Equal, Compare, Format and the methods of Map never panic, whatever they are
//     given, and walk terms with a stack on the heap: a list nested a million deep
//     costs memory, not the process. Terms are trees: a compound that holds itself
//     never ends.
//  5. The unused bits of a Bitstring are zero.
//  6. If a term holds no identifiers, no Fun and nothing foreign, is nested no
//     deeper than 10,000 levels, and its atoms are valid UTF-8 of at most
//     [MaxAtomRunes] characters, then Parse(Format(t)) and Parse(FormatPlain(t))
//     are Equal to t.
//
// # Goroutines
//
// None. Values may be read by many goroutines at once. What can be changed in
// place (the slices, a Map) belongs to one owner at a time: to send it is to give
// it away.
//
// # Limits and versions
//
// Atoms have at most [MaxAtomRunes] characters and references at most
// [MaxRefWords] words; encoders check the first. Exact equality is that of OTP 27
// and newer in its one change: 0.0 and -0.0 differ. Text is that of OTP 25, which
// the tests compare with; the words maybe and else, reserved since OTP 27, are
// quoted when written and accepted unquoted when read. Triple-quoted strings and
// sigils are not read. A depth of 10,000 levels and segments of 2^20 bits bound what a short text
// can ask for.
package wire

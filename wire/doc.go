// Package wire represents Erlang's terms as Go values, compares them, and formats and parses them as text. It contains no
// codec: packages etf and pack encode terms as bytes. Package dist has the interface between a node and its protocols. The
// package imports only the standard library.
//
// # Nouns
//
//   - A term is a Go value of one of the types in the table. There is no interface type for terms: messages are any.
//   - An identifier ([PID], [Ref], [Port]) belongs to one incarnation of a node ([NodeID]); an [Origin] mints them.
//   - A compound ([Tuple], [List], [ImproperList], [Map], [Fun]) contains terms.
//   - A foreign value is any other Go value. It may be used like a term as long as it stays on its node.
//
// A message as an Erlang process would send it, and how to take it apart:
//
//	msg := wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), wire.NewMap(wire.Atom("qty"), 2)}
//
//	item, _ := wire.AsText(msg[2])                        // "cart"; the same for a binary or a string
//	qty, ok := msg[3].(wire.Map).Get(wire.Atom("qty"))    // 2, true
//	wire.Equal(qty, int64(2))                             // true: Go's integer types are interchangeable
//	wire.Format(msg)                                      // {add,<go@host.7.0>,"cart",#{qty => 2}}
//
// # Terms
//
// Several Go types may represent one Erlang type, so that senders need not convert. [Equal], [Compare], [Format] and the
// keys of a [Map] treat them alike. Decoders and [Parse] always return the type in the last column: one type switch of
// eleven cases covers everything that can arrive.
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
// Go string is the binary <<"abc">>, which is what Elixir and most newer Erlang code use for text. [AsText] reads
// either; [AsInt] and [AsBool] read integers and booleans.
//
// The untyped nil is the empty list, like a nil slice in Go and nil in Erlang's own sources; Elixir's nil is Atom("nil"),
// and "no value" is commonly [AtomUndefined]. A named type is not its underlying type: time.Duration is foreign. So are []any
// and map[string]any, which would be ambiguous. NaN and the infinities have a place in the order of numbers, but Erlang has
// no such floats and encoders refuse them.
//
// # Invariants
//
//  1. A PID is two words, comparable, and equal by == to every PID of the same
//     number, node name and creation. Ref, Port, Bitstring and Export are
//     comparable too; all other compounds are compared by [Equal].
//  2. Equal(a, b) implies Compare(a, b) == 0 and Format(a) == Format(b). The converse holds for neither: 1 == 1.0, and two
//     incarnations of a node print alike.
//  3. Compare is a total order up to ties, and numbers compare by exact value.
//  4. Equal, Compare, Format and the methods of Map never panic for any argument, and walk terms with a stack on the heap:
//     a list nested a million deep costs memory, but does not crash the process. Terms are trees: a compound that contains
//     itself never ends.
//  5. The unused bits of a Bitstring are zero.
//  6. If a term holds no identifiers, no Fun and nothing foreign, is nested no
//     deeper than 10,000 levels, and its atoms are valid UTF-8 of at most
//     [MaxAtomRunes] characters, then Parse(Format(t)) and Parse(Formatter{Plain: true}.Format(t))
//     are Equal to t.
//
// # Goroutines
//
// None. Many goroutines may read a value concurrently. Mutable values (the slices, a Map) belong to one owner at a time:
// sending such a value gives it away.
//
// # Limits and versions
//
// Atoms have at most [MaxAtomRunes] characters and references at most
// [MaxRefWords] words; encoders check the first. Exact equality follows OTP 27 and newer: 0.0 and -0.0 differ. Text is that
// of OTP 25, which the tests compare with; the words maybe and else, reserved since OTP 27, are quoted when written and
// accepted unquoted when read. Parse does not support triple-quoted strings and sigils. To bound the memory for a short
// text, it accepts at most 10,000 levels and segments of 2^20 bits.
package wire

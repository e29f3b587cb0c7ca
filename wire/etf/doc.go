// Package etf turns terms into the bytes of Erlang's external term format and back, as
// term_to_binary and binary_to_term do it ("External Term Format", erl_ext_dist, in OTP's
// ERTS documents), and Go values into terms and back.
//
// # Nouns
//
//   - A term is a value of package wire. [Append] writes one, [Decode] reads one.
//   - A Go value stands for a term, as its type and the tags of its fields say: [ToTerm],
//     [FromTerm]. [Marshal] and [Unmarshal] do both steps.
//   - A [wire.Termer] says itself what it stands for, a [Receiver] reads itself.
//
// A message is written and read:
//
//	b, err := etf.Append(nil, wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), 2})
//	msg, rest, err := etf.Decode(b)        // {add,<go@host.7.0>,"cart",2}
//
// # Invariants
//
//  1. What Decode returns has, at every depth, the types in the last column of
//     wire's table, and shares no memory with the input. A list in the tail of a
//     list becomes part of it, so the tail of an ImproperList is no list.
//  2. Decode(Append(t)) is Equal to t for every term t within the limits.
//  3. Append(Decode(b)) is b if b is what term_to_binary of OTP 26 or newer made,
//     except for the order of the pairs of a map.
//  4. Decode never panics, and allocates nothing before the bytes that it is for are there.
//     Its time grows with the length of the input.
//  5. ToTerm and FromTerm know terms only, so that they serve other formats as well. What
//     they need to know of a Go type they find out once.
//
// # Goroutines
//
// None. All functions are safe for many at once.
//
// # Limits and versions
//
// OTP 25 and newer, whose nodes understand all that is written here. Read is everything
// that any release since R7 wrote, but for FUN_EXT (117), gone since OTP 23, and LOCAL_EXT
// (121). Compound terms are nested at most 100,000 deep, Go values 10,000. A term has at
// most 16,777,216 elements (two for each pair of a map), and a compressed one at most 64
// MiB. Infinities and NaN are refused, as are a zero PID, Ref or Port when writing.
package etf

// Package etf encodes terms in Erlang's external term format and decodes them, like term_to_binary and binary_to_term
// ("External Term Format", erl_ext_dist, in OTP's ERTS documentation), and converts Go values to terms and back.
//
// # Nouns
//
//   - A term is a value of package wire. [Append] writes one, [Decode] reads one.
//   - A Go value represents a term, according to its type and the tags of its fields: [ToTerm], [FromTerm]. [Marshal] and
//     [Unmarshal] do both steps.
//   - A [wire.Termer] provides its own term, and a [Receiver] reads its own term.
//
// Encoding and decoding a message:
//
//	b, err := etf.Append(nil, wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), 2})
//	msg, rest, err := etf.Decode(b)        // {add,<go@host.7.0>,"cart",2}
//
// # Invariants
//
//  1. The result of Decode has, at every depth, the types in the last column of wire's table, and shares no memory with the
//     input. A list in the tail of a list becomes part of it, so the tail of an ImproperList is not a list.
//  2. Decode(Append(t)) is Equal to t for every term t within the limits.
//  3. Append(Decode(b)) is b if b was made by term_to_binary of OTP 26 or newer, except for the order of the pairs of a
//     map.
//  4. Decode never panics, and allocates nothing before the corresponding bytes are present. Its time is linear in the
//     length of the input.
//  5. ToTerm and FromTerm work on terms, so that other formats can use them, too. They analyze each Go type once.
//
// # Goroutines
//
// None. All functions may be called concurrently.
//
// # Limits and versions
//
// The encoded format can be read by OTP 25 and newer. Decode reads everything written by any release since R7, except
// FUN_EXT (117), which OTP 23 removed, and LOCAL_EXT (121). Compound terms are nested at most 100,000 deep, Go values
// 10,000. A term has at most 16,777,216 elements (two for each pair of a map), and a compressed one at most 64 MiB.
// Infinities and NaN are refused, as are a zero PID, Ref or Port when writing.
package etf

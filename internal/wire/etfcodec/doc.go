// Package etfcodec is the codec of Erlang's external term format: it decodes and encodes the terms of package wire, like
// binary_to_term and term_to_binary ("External Term Format", erl_ext_dist, in OTP's ERTS documentation). It does not move
// bytes; callers handle distribution headers.
//
// # Nouns
//
//   - A [Decoder] reads terms and caches recent atoms and nodes. Each connection has one.
//   - An [Encoder] writes terms in the same form as term_to_binary.
//   - [Limits] bounds the memory and time that a peer's input can require.
//   - A bare term has no version byte 131, as after a distribution header ([Decoder.DecodeBare], [AppendBare]).
//
// Package etf is the public interface, and also converts Go values to terms and back.
//
// Writing and reading a message:
//
//	b, err := etfcodec.Append(nil, wire.Tuple{wire.Atom("add"), from, wire.Charlist("cart"), 2})
//
//	var d etfcodec.Decoder                      // keep it, for its cached atoms
//	msg, rest, err := d.Decode(b)          // {add,<go@host.7.0>,"cart",2}
//	end, err := etfcodec.Skip(b[1:])            // the end of the term, without building it
//
// After a distribution header, atoms are indices into a table that the header fills. The caller keeps the table and gives
// both sides access:
//
//	d := etfcodec.Decoder{Atoms: func(i byte) (wire.Atom, bool) { … }}
//	e := etfcodec.Encoder{Atoms: func(a wire.Atom) (byte, bool) { … }}
//	control, payload, err := d.DecodeBare(frame)
//
// # Invariants
//
//  1. The result of Decode has, at every depth, the types in the last column of wire's table, and shares no memory with the
//     input. A list in the tail of a list becomes part of it, so the tail of an ImproperList is not a list.
//  2. Decode(Append(t)) is Equal to t for every term t within the limits, and all fields of a Fun are preserved, including
//     those that Equal ignores.
//  3. Append(Decode(b)) is b if b was made by term_to_binary of OTP 26 or newer, except for the order of the pairs of a
//     map.
//  4. A Decoder never panics, never recovers, and allocates nothing before the corresponding bytes are present. A term
//     costs at most about 20 bytes for each byte of input, 60 in a large map, plus 72 for each open level.
//  5. The time for an input grows with its length, apart from logarithmic factors: only the keys of maps are walked more
//     than once. A key that goes into a map of up to 32 pairs is compared with at most 6 others, and a comparison ends with
//     the shorter key, so the longest key of a map costs no more than all others together. Data in a key that is not the
//     longest is in a term of less than half the size, so a byte is walked again once per doubling of the input, regardless
//     of the nesting of maps in keys. The keys of larger maps are hashed completely, and such maps are sorted when they are
//     compared: see [Limits].LargeKeys.
//  6. Neither side recurses over terms: depth costs heap, up to a limit.
//  7. If Append fails, dst is unchanged.
//  8. A Decoder caches at most 256 atoms and 16 node incarnations, for any input; nothing else caches any.
//  9. A map of up to 32 pairs and a binary of up to 1,000 bytes take one allocation. Tuples, lists and longer binaries
//     take two, the second of 24 bytes for Go's slice, and a larger map is hashed. Integers from -512 to 65,535 take none,
//     others share one: a reference to such an integer keeps up to 127 others in memory.
//
// # Goroutines
//
// None. A Decoder belongs to one goroutine at a time; an Encoder may be shared if its hooks may; everything else may be
// used concurrently.
//
// # What is not preserved
//
// The bytes of a term contain more than the term: which of two tags was used, the order of a map's pairs, a one-byte
// creation in the old tags. This is not preserved. The pairs of a map of up to 32 are written in key order, as in OTP 25;
// OTP 26 and newer write atom keys in the order of their atom table, and no release has an order for larger maps.
//
// # Limits and versions
//
// OTP 25 and newer can read everything that is written here: atoms are always in UTF-8, as written by term_to_binary since
// OTP 26. Decode reads everything written by any release since R7, except FUN_EXT (117), which OTP 23 removed, and
// LOCAL_EXT (121), which only its writer can read. Compressed terms are read and written at top level only. Terms beyond
// [Limits], which are adjustable, and [MaxDepth] are refused. Decode is stricter than OTP in one respect: the size field of
// a fun must be correct, and its creator must be a pid. Infinities and NaN are refused on both sides, as are a zero PID,
// Ref or Port when writing.
//
// # Bytes
//
// All numbers are big-endian, except the digits of big integers. "atom" is any of
// the atom tags, "term" any term. The last column says for which terms Append writes the tag.
//
//	tag  name                 behind it                                          written for
//	 70  NEW_FLOAT_EXT        float:64, finite                                   floats
//	 77  BIT_BINARY_EXT       n:32, bits in the last byte:8 (1 to 8), n bytes    bitstrings that are not binaries
//	 80  compressed           n:32, zlib stream of n bytes of a bare term        AppendCompressed, if shorter
//	 82  ATOM_CACHE_REF       index:8                                            atoms known to Encoder.Atoms
//	 88  NEW_PID_EXT          node atom, id:32, serial:32, creation:32           pids
//	 89  NEW_PORT_EXT         node atom, id:32, creation:32                      ports below 2^28
//	 90  NEWER_REFERENCE_EXT  n:16 (1 to 5), node atom, creation:32, n words:32  references
//	 97  SMALL_INTEGER_EXT    n:8                                                0 to 255
//	 98  INTEGER_EXT          n:32, signed                                       other integers of 32 bits
//	 99  FLOAT_EXT            31 bytes of text, "%.20e", zeros behind it         never
//	100  ATOM_EXT             n:16, n bytes of Latin-1                           never
//	101  REFERENCE_EXT        node atom, word:32, creation:8                     never
//	102  PORT_EXT             node atom, id:32, creation:8                       never
//	103  PID_EXT              node atom, id:32, serial:32, creation:8            never
//	104  SMALL_TUPLE_EXT      n:8, n terms                                       up to 255 elements
//	105  LARGE_TUPLE_EXT      n:32, n terms                                      more
//	106  NIL_EXT              nothing                                            []
//	107  STRING_EXT           n:16, n bytes                                      lists of 1 to 65,535 bytes
//	108  LIST_EXT             n:32, n terms, tail term                           other lists
//	109  BINARY_EXT           n:32, n bytes                                      binaries
//	110  SMALL_BIG_EXT        n:8, sign:8 (0 is +), n digits, lowest first       integers of up to 255 bytes
//	111  LARGE_BIG_EXT        n:32, sign:8, n digits, lowest first               more
//	112  NEW_FUN_EXT          size:32 (itself included), arity:8, uniq:128,      funs
//	                          index:32, n:32, module atom, old index and old
//	                          uniq as 97 or 98, creator pid, n terms
//	113  EXPORT_EXT           module atom, function atom, arity as 97            funs M:F/A
//	114  NEW_REFERENCE_EXT    n:16, node atom, creation:8, n words:32            never
//	115  SMALL_ATOM_EXT       n:8, n bytes of Latin-1                            never
//	116  MAP_EXT              n:32, n times key term, value term, no key twice   maps
//	118  ATOM_UTF8_EXT        n:16, n bytes, at most 255 characters              atoms of 256 bytes and more
//	119  SMALL_ATOM_UTF8_EXT  n:8, n bytes                                       other atoms
//	120  V4_PORT_EXT          node atom, id:64, creation:32                      other ports
//	131  version              a term                                             before all terms except bare ones
package etfcodec

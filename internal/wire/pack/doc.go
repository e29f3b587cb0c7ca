// Package pack is the codec of the native protocol: the terms of package wire, and
// registered Go types, as MessagePack. It moves no bytes and knows no frames.
//
// # Nouns
//
//   - An [Encoder] writes terms, a [Decoder] reads them. Each direction of a
//     connection has one of each, at its two ends.
//   - [EncodeDict] and [DecodeDict] are the dictionary of the two: atoms and nodes that
//     have been sent once are then sent as a number.
//   - [Types] are the Go types that travel as they are, by a name.
//   - [Limits] bounds what bytes from a peer can ask for.
//   - A mark is the first element of an array that is no list.
//
// A frame is written and read:
//
//	enc := pack.Encoder{Dict: &pack.EncodeDict{}, Types: types}
//	dst, err := enc.AppendPID(dst, to)     // the head, without boxing
//	dst, err = enc.Append(dst, msg)        // if one fails, enc.Dict.Undo() for all
//	enc.Dict.Commit()                      // it will be sent, in this order
//
//	dec := pack.Decoder{Dict: &pack.DecodeDict{}, Types: types}
//	to, rest, err := dec.PID(frame)
//	msg, rest, err := dec.Term(rest)
//
// A message that others may overtake, such as a long one that is sent in parts, must be
// standalone: definitions in it would come too late, and places in it could have been
// reassigned meanwhile. It is written by another Encoder, and read by another
// Decoder, which have no dictionaries, or dictionaries of their own that are
// Reset before each such message; the second is shorter where names come again.
//
// # What arrives
//
// Go values arrive as they were sent, where etf has Erlang's view of them. A string
// is a string, []byte is []byte, true is the bool and not the atom, nil is nil and
// not the empty List; [wire.Equal] and the readers of package wire see no
// difference. Where an Encoder has Types, values of int8 to uint64, float32, time.Duration, and
// of slices, maps and pointers made of types that can travel, arrive as what they are,
// by the expression of their type. Without Types, and for a peer of the former version,
// integers of all Go types arrive as int, and as *big.Int where that is
// too small; float32 as float64, as does a uintptr as int always; a Charlist as the List it spells; an ImproperList in
// its plain shape; a Bitstring of whole bytes as []byte; any other empty list, tuple
// or map as List(nil), Tuple{} and Map{}. NaN and the infinities, and a zero PID, Ref
// or Port, travel. So does time.Time, to the nanosecond, without its zone.
//
// A value of a registered type T arrives as a T, and a *T as a *T, nil included,
// anywhere in a term. Its exported fields are written under their names, or their tags
// `msgpack:"name,omitempty"`; "-" leaves a field out, as `etf:"-"` does, "alias:old" reads it under an old name, too.
// The fields of an embedded struct are those of the struct around it ("noinline": a field of its
// own). A type with two fields of one name is refused, although Go has the outer one hide the other.
// They may be of all types but channels, functions and complex numbers; of interfaces any,
// which then holds a term or a value of a registered type, and error;
// of types of package wire; and of types with methods: MarshalMsg and UnmarshalMsg as the
// generator of github.com/tinylib/msgp makes them, MarshalMsgpack and UnmarshalMsgpack for one
// object of MessagePack as bytes, encoding.BinaryMarshaler and encoding.TextMarshaler, each with
// its counterpart, the first of them that a type has. An error is what [Encoder].Foreign has for it, 4 in each other's
// fields at most; without that, its text. What arrives is asked for what it is on that node: see Opened.
// A number that the type here cannot hold is none of that type. Where the name is not known,
// or stands for a type that the value does not fit, the value arrives as a Map of
// its fields with its name under [TypeKey], and so do those inside one that does not
// fit. For a strict [Decoder] a value that does not fit is [ErrShape]. Fields that one side does not have are
// left out. Nothing of this is an error
// of the connection. Everything else is up to [Encoder].Foreign.
//
// Values that stand for something on one node, of the types entered as references in package termof,
// are made anew for [Decoder].Host. Without one, or where their term is none of that kind, arrives
// {'$reference', Kind, Term}.
//
// A type expression is
//
//	Type  = Name | "[]" Type | "[" Length "]" Type | "*" Type | "map[" Type "]" Type
//	Name  = bool string any error int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64
//	        time duration bigint atom pid ref port tuple list improper charlist map bitstring fun export
//	        or the name of a registered type, if it has none of [ ] * in it
//
// of at most 255 characters and 9 types in each other, and arrays of 64 KiB, all whose elements come.
// Peers can have a program compose 1,000 types at most: types live as long as the program. A value whose
// expression is beyond that, or has names in it that are not known, or which does not fit it, arrives as the
// plain term, its structs as maps.
//
// # Sharing
//
// What a message refers to in several places crosses once, and arrives as one: what a pointer of the same
// type points to, a map (a [wire.Map], too), the elements of a slice with the same address, length and type
// if they have 64 bytes or more (a Tuple and a List, too), and a text of as many. It is so between an Encoder with Types and a
// Decoder; the capacity of slices, and slices of parts of each other, are not kept. A message whose type cannot hold two such
// references is written without looking for them. What refers to itself is refused, with the path: ErrNoTerm,
// "at shop.Node.Next.Next: a cycle".
//
// A reference costs the reader no copy. But what is made of the message later may be as large as if it came
// without references: a text, the terms that a node of OTP gets. So both sides refuse a message that has more bytes than
// [Limits].Expanded or [Encoder].Expanded if what is shared is counted each time.
//
// References lead back, to what has been read whole. What has been left out where it came first, because
// there is no field for it, is read where a reference leads to it, and so is what was of another type: up to 32
// of such within each other, of 16 times the bytes of the message in all. [ErrShared] is the
// error for a reference that leads nowhere, forward, to what is around it, or too far; the decoder
// can go on with the next message.
//
// # Other languages
//
// With Erlang set, and no Types, an Encoder writes for programs that know nothing of
// Go, and a Decoder reads what they write, as package node/port does: the atoms true,
// false and undefined are bool and nil, and so nil, which is the empty list in a term,
// is an empty array; text is bin, and str is read as []byte. Each sort of term has
// one form then, whether it comes from Go or from Erlang. NaN, the infinities, times
// and zero identifiers are refused. The bytes are those below.
//
// # Invariants
//
//  1. What [DecodeDict] holds after a frame has been read is what [EncodeDict] held when it was
//     written, for all frames that were committed, in that order.
//  2. Decode(Append(t)) is Equal to t for every term t within the limits, and the
//     fields of a Fun come back all alike.
//  3. If Append or Segments fails, dst and the dictionary are unchanged.
//  4. The pieces of Segments, one after the other, are what Append writes.
//  5. What Term returns shares no memory with the input, unless Alias is set and it
//     has [Large] bytes. The pieces of Segments share that of the term, from that
//     size on.
//  6. Nothing is allocated before the bytes that it is for are there. A term costs
//     some 50 bytes at most for each byte of input, 100 in a large map, beside a
//     few hundred for each level that is open, and a reference to a part of it nothing. A registered type adds its own size
//     for each element of a slice of it; what its methods allocate is its own affair, but
//     the lengths in what they read have been checked.
//  7. A Decoder does not panic. Methods of registered types that do are taken for a
//     value that does not fit, and on the other side for one that is no term: that is
//     what the two recovers are for.
//  8. Terms are not recursed over: depth costs heap, up to a limit. Registered values
//     are, at most 10,000 deep, and 32 where they stand in each other's fields of
//     type any.
//  9. Inside a registered value everything is standalone, so that what there is no
//     field for can be skipped.
//  10. A type has one plan, made when it is registered. To write or read by it looks at no
//     type, name or tag again, and allocates nothing but what is read.
//
// # Goroutines
//
// None. An Encoder without Dict is for many goroutines at once if Foreign is, and
// so are Types. All else belongs to one at a time.
//
// # What can be lost
//
// The order of a map's pairs, unexported fields, the zone and the monotonic reading
// of a time.Time. An [EncodeDict] whose peer has not read all, or a [DecodeDict] after an error,
// cannot be used any more: the connection must end, or both be Reset at the same place.
//
// # Limits and versions
//
// See [Limits], all adjustable. Beside those: 2,048 atoms and 254 nodes in a cache, in
// which an atom that comes but once displaces none; atoms of [wire.MaxAtomRunes]
// characters; integers of 512 KiB; lengths of 32 bits. The numbers below may grow, and
// none changes its meaning.
//
// # Bytes
//
// All numbers are big-endian. What MessagePack has itself is as its specification
// says: nil, bool, integers in their shortest form, float 64 (float 32 for a float32),
// str for string, bin for []byte, map for Map (any keys, none twice), timestamp
// (extension -1) for time.Time. All forms of a length are read; the shortest is written.
//
// Arrays, by their first element:
//
//	first element         the others                                            what it is
//	nil (0xc0)            the elements                                          Tuple
//	fixext 1, 9, byte 0   the elements, 1 or more                               List whose first element is nil, or may be
//	fixext 1, 9, byte 1   the tail (no list), then the elements, 1 or more      ImproperList
//	fixext 1, 9, byte 2   module atom, bin 8 of 29 bytes (arity:8, uniq:128,
//	                      index:32, old index:32, old uniq:32), pid, free …     Fun
//	fixext 1, 9, byte 3   module atom, function atom, arity                     Export
//	fixext 1, 9, byte 4   name atom, value                                      a T registered under the name
//	fixext 1, 9, byte 5   name atom, value; or name atom standalone: nil             a *T
//	fixext 1, 9, byte 6   an atom that is a type expression, value              a value of that type
//	fixext 1, 9, byte 7   an atom that names its kind, term                     a reference: see package termof
//	fixext 1, 9, byte 8   offsets, as bin: of 32 bits each; term                a whole message with references to parts of itself
//	anything else, none   the elements                                          List
//
// A tuple of up to 14 elements so costs two bytes beside its elements, a list one. An
// extension would cost at least four, and its length would have to be known before
// its elements are written; as an array, any MessagePack reader can walk it, too. Lists that
// begin with nil are rare. A mark is always those three bytes, and stands nowhere else.
//
// Extensions. "node" is below; a name is UTF-8.
//
//	type  data                                         what it is
//	  1   name                                         Atom
//	  2   place:16 (below 2048), name                  Atom, which has that place from here on
//	  3   place:8 or :16                               the Atom at that place
//	  4   node, number of 1 to 8 bytes                 PID: serial:32 id:32, leading zeros left out
//	  5   node, 0 to 5 words of 32 bits, lowest first  Ref
//	  6   node, number of 1 to 8 bytes                 Port
//	  7   sign:8 (1: negative), magnitude              integer beyond 64 bits
//	  8   bits in the last byte:8 (1 to 7), bytes      Bitstring, the spare bits zero
//	 10   a number of 8, 16 or 32 bits, from 0         the same as at the offset with that number, from the beginning of the term
//	119   a standalone term                            a field of type any of a registered value
//
//	node: place:8 (0 to 253)                                    the one at that place
//	      254, place:8, creation:32, length:16, name            that has that place from here on
//	      255, creation:32, length:16, name                     without a place
//
// The node of a zero identifier has creation 0 and an empty name. The writer chooses
// the places, and may give one to another atom or node at any time: the reader only
// follows. The value of a registered struct is a map from the names of its fields, as
// str; a field of type any is nil or an extension 119.
package pack

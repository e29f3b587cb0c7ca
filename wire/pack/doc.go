// Package pack is the payload and control codec of the native protocol: the terms
// of package wire, and registered Go types, as MessagePack.
//
//	enc := pack.Encoder{Told: &pack.Told{}, Types: types}   // one for each direction of a connection
//	dec := pack.Decoder{Heard: &pack.Heard{}, Types: types} // its other end
//
//	dst, err = enc.AppendPID(dst, to)          // in a frame's head: no boxing
//	dst, err = enc.Append(dst, msg)
//	enc.Told.Commit()                          // once a frame that will be sent; Undo if it will not
//
//	to, rest, err := dec.PID(frame)
//	msg, rest, err := dec.Term(rest)
//
// What may be overtaken (a long message in parts) must stand alone: it is written
// and read by an Encoder and a Decoder of their own, without Told and Heard, or with
// a Told and a Heard of their own that are Reset before each.
package pack

// Package deepcopy copies Go values, with all reachable memory that could be changed; and it detects later changes of a
// value.
//
//   - A plan describes how values of one type are copied. It is made once, for the first value.
//   - [Copy] returns a copy that shares no mutable memory with the original.
//   - A [Snapshot] is a copy of everything that can be copied, and reports what has changed since, and where.
//
// # What is copied, shared and refused
//
//	copied    what pointers, slices, maps and interfaces refer to, in unexported fields as well
//	shared    strings, channels, time.Time and *time.Location, PIDs and all other unique.Handles, types, regular
//	          expressions, *os.File, *slog.Logger, contexts, errors; values of a type with the method Immutable();
//	          fields with the tag isolation:"share"; the target of a pointer if it holds a lock or an atomic, and a
//	          weak.Pointer to such a thing
//	refused   functions; locks and atomics that are no pointers; unsafe pointers; other weak pointers, since nothing
//	          would keep the copy of their target alive; and structs of the standard
//	          library with unexported references, except those that are known to be plain data
//
// Errors are shared because programs compare them. A value with a lock is meant to be shared. A function may have captured
// anything, and cannot be inspected; a user who knows better sets the tag. What the standard library hides may be a file or a
// connection, of which there must not be two.
//
// # Invariants
//
//  1. References to one object in the original are references to one object in the copy, cycles included. Two things
//     are one object if they begin at the same address and have the same type, and for slices the same length. A pointer
//     to a field or an element of another part of the message refers to a copy of its own.
//  2. The original is only read. A Snapshot never follows a reference that it did not follow when it was
//     taken: concurrent writes cannot mislead it.
//  3. A slice of the copy has no capacity beyond its length.
//  4. Plans are immutable once others can see them.
//
// # Limits
//
// References may be 100,000 deep. A Snapshot follows a given number of bytes, and shares the rest, which it does not compare.
// A map that is changed while it is read ends the program, as usual in Go.
//
// The package has no goroutine.
package deepcopy

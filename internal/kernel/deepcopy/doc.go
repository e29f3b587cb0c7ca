// Package deepcopy copies Go values, with all the memory that they lead to and that somebody could
// change; and it tells later whether a value is still what it was.
//
//   - A plan says how values of one type are copied. It is made once, when the first one comes.
//   - [Copy] returns a copy that shares no memory that can be changed with the original.
//   - A [Snapshot] is a copy of all that can be copied, and says what has changed since, and where.
//
// # What is copied, shared and refused
//
//	copied    what pointers, slices, maps and interfaces lead to, in unexported fields as well
//	shared    strings, channels, time.Time and *time.Location, PIDs and all other unique.Handles, types, regular
//	          expressions, *os.File, *slog.Logger, contexts, errors; values of a type with the method Immutable();
//	          fields with the tag isolation:"share"; what a pointer leads to that holds a lock or an atomic, and a
//	          weak.Pointer to such a thing
//	refused   functions; locks and atomics that are no pointers; unsafe pointers; other weak pointers, since nobody
//	          would hold the copy of what they lead to; and structs of the standard
//	          library with unexported references, but for those that are known to be plain data
//
// An error is shared since programs compare errors. What holds a lock is made to be shared. A function may
// have captured anything, and nobody can look inside; who knows better says so by the tag. What the standard
// library hides may be a file or a connection, of which there must not be two.
//
// # Invariants
//
//  1. What led to one object in the original leads to one in the copy, cycles included. Two things are one
//     object if they begin at the same address and have the same type, and for slices the same length. A pointer
//     to a field or an element of what the message also holds leads to a copy of its own.
//  2. The original is read only. A Snapshot never follows a reference that it did not follow when it was
//     taken: what is written meanwhile cannot lead it astray.
//  3. A slice of the copy has no capacity beyond its length.
//  4. Plans are never changed once others can see them.
//
// # Limits
//
// References may be 100,000 deep. A Snapshot follows as many bytes as it is told to, and shares the rest,
// which it does not compare. A map that somebody changes while it is read ends the program, as Go has it.
//
// The package has no goroutine.
package deepcopy

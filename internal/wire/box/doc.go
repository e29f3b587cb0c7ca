// Package box puts binaries into interfaces at the cost of one allocation, and integers at the cost of less, for decoders:
// most messages have some of them. It also identifies the dynamic type of an interface, for tables by type.
//
// # Two implementations
//
// The fast one (files *_fast.go) is for linux/amd64. It relies on behaviour that Go does not guarantee: the memory layout
// of interfaces and slices, and that the garbage collector does not move memory. Its invariants:
//
//  1. The kind of an interface is that of the value it points to.
//  2. The value is written before the interface is made, and never again.
//  3. The capacity of a slice is its length, so that an append copies.
//  4. Memory that the garbage collector does not scan points only to itself (a binary), and a pointer that is stored
//     without a write barrier does not point into the heap (a small integer).
//  5. A kept integer keeps only other integers in memory, at most 127.
//
// With -race it is the same, and checkptr, which -race enables, checks its pointers.
//
// The portable one (box_portable.go) makes ordinary interface values. It is used on other platforms, and with the build
// tags actornode_portable and actornode_no_box. Only the third invariant applies to it. The same tests run with both.
package box

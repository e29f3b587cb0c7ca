// Package box puts slices into interfaces at the cost of one allocation, and
// integers at the cost of less, for decoders: tuples, lists, binaries and integers are
// what most messages are made of. It also reads the type of what is in an interface, for tables by type.
//
// # Two implementations
//
// The fast one (files *_fast.go) is for linux/amd64. It rests on what Go does not promise: how
// an interface and a slice lie in memory, and that the garbage collector moves nothing.
// Its invariants:
//
//  1. The kind that an interface is given is that of the value it points to.
//  2. What it points to is written before, and never again.
//  3. The capacity of a slice is its length, so that an append copies.
//  4. Memory that the garbage collector does not scan points to nothing but itself
//     (a binary), and a pointer that is stored without a write barrier does not point into its
//     heap (a small integer).
//  5. An integer that is kept keeps only other integers in memory, 127 at most.
//
// With -race it is the same, and checkptr, which -race turns on, looks at its pointers.
//
// The portable one (box_portable.go) makes ordinary interface values. Other systems and
// processors get it, and programs built with the tag actornode_portable or
// actornode_no_box. Of the invariants only the third applies to it. The same tests run with both.
package box

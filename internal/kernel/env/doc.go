// Package env is the one way in which a node reaches time, chance and goroutines.
//
// An [Env] is given to whatever needs one of them. Its zero value is the machine: package
// time, package math/rand/v2, the go statement. [Of] makes one of a [World], which may be a
// simulation: then a whole cluster runs in one process under a seed.
//
// What is not decided by an Env is the scheduler of stages (package sched), which has its
// own workers, and what comes from sockets.
//
// Invariants:
//
//  1. An Env never changes, and is copied freely: it is two words.
//  2. On the machine each method is the function of the standard library that it is named
//     after, behind one comparison with nil; it allocates nothing beside what that does.
//  3. With a World no method reads a clock, draws a number or starts a goroutine but by it.
//
// A goroutine that package env starts ends with the function that it was given.
package env

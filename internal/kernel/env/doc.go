// Package env is the only way in which a node accesses time, random numbers and goroutines.
//
// An [Env] is passed to all code that needs one of them. Its zero value is the real environment: package time, package
// math/rand/v2, the go statement. [Of] makes one of a [World], which may be a simulation: then a whole cluster runs
// deterministically in one process, given a seed.
//
// An Env does not control the scheduler of stages (package sched), which has its own workers, and input from sockets.
//
// Invariants:
//
//  1. An Env is immutable, and is copied freely: it is two words.
//  2. In the real environment each method is the function of the standard library with the
//     same name, behind one comparison with nil, and allocates no more than that.
//  3. With a World all clocks, random numbers and goroutines of the methods come from it.
//
// A goroutine that package env starts ends with the function that it was given.
package env

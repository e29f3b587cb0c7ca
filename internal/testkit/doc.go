// Package testkit is shared by the tests of all packages. It imports nothing of this module, so that all of them can use
// it.
//
//   - A Tier selects the tests that run: those of make test, of make merge or of make night. A test belongs to the lowest
//     tier that its cost allows. From skips a test below its tier, Program also one whose program is missing, and By
//     selects the amount of work of a test.
//   - Until, Receive and Context wait for a fact. They give up after Limit, several minutes, so that a busy machine does
//     not fail a test.
//   - Seed and Rand provide repeatable randomness: a failing test logs its seed, and the flag -seed, defined in every test
//     that imports this package, sets it.
//   - Goroutines counts the goroutines of the program.
//   - Race reports whether the race detector is on.
package testkit

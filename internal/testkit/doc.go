// Package testkit is what the tests of all packages have in common. It imports nothing of
// this module, so that each of them can use it.
//
//   - A Tier says which tests run: those of make test, of make merge or of make night. A test
//     belongs to the lowest tier that it can afford. From skips a test below its tier, Program
//     one whose program is missing too, and By chooses how much a test does.
//   - Until, Receive and Context wait for a fact. They give up after Limit, which is minutes:
//     a machine that is merely busy never fails a test.
//   - Seed and Rand are chance that can be repeated: a test that fails logs its seed, and the
//     flag -seed, which every test that imports this package has, sets it.
//   - Race says whether the race detector is on.
package testkit

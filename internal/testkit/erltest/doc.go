// Package erltest runs a real Erlang/OTP for tests, and compares its answers with those of
// this module.
//
//   - Run is one run of erl to its end. A Node is an erl that evaluates expressions
//     until the test ends, mostly a node of a cluster. Options are what both
//     are started with. Modules of Erlang from testdata are compiled for them, once
//     a test process.
//   - A Script has, in words of its test, what is done, and what OTP answered.
//     Judge lets OTP play scripts by an interpreter from testdata, and checks the
//     answers in the files; with the flag -update, which every test that imports this
//     package has, it writes them anew.
//
// All that starts an Erlang leaves its test to make merge, and skips it there where erl or
// erlc is missing. With -update it runs in any tier.
//
// Invariants:
//
//  1. Nothing is left behind: when a test ends, its erl has been waited for, and so
//     has the goroutine that reads its output.
//  2. Nothing hangs: an answer and a Run are waited for testkit.Limit at the most.
//  3. Tests are isolated: each erl has its own home directory and asks the EPMD of its test
//     only, starts none, writes no crash dump, and reads no ERL_ variable of ours.
//
// Goroutines: Node.read, one a Node, started by Start, ended by erl's end, waited
// for by Kill and by the end of the test.
//
// The module erltest (erltest.erl) is in the code path of every erl: evaluate is
// what a Node runs, play what the interpreters of scripts begin with.
//
// Of this module it imports packages logtest and testkit only, so that all tests may use it.
// Where nodes find each other is for package epmdtest.
//
// Script files are text. A line "== TITLE" begins a script, "----" ends what is done
// and begins the answer, which goes on to the next title. Lines that begin with #
// and empty ones are left out of what is done. What stands above the first title is
// a preface.
package erltest

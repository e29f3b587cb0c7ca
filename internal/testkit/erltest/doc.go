// Package erltest runs a real Erlang/OTP for tests, and compares its answers with those of this module.
//
//   - Run runs erl to its end. A Node is an erl that evaluates expressions until the test ends, usually a node of a
//     cluster. Options configures both. Erlang modules from testdata are compiled for them, once per test process.
//   - A Script has steps, in a language of its test, and the answers of OTP. Judge lets OTP play scripts with an
//     interpreter from testdata, and checks the answers in the files; with the flag -update, defined in every test that
//     imports this package, it rewrites them.
//
// Everything that starts an Erlang skips its test below make merge, and if erl or erlc is missing. With -update it runs in
// any tier.
//
// Invariants:
//
//  1. Nothing is left behind: when a test ends, its erl and the goroutine that reads its output have ended.
//  2. Nothing hangs: waits for an answer or a Run last at most testkit.Limit.
//  3. Tests are isolated: each erl has its own home directory, uses only the EPMD of its test, starts none, writes no crash
//     dump, and sees no ERL_ variable of the test's environment.
//
// Goroutines: Node.read, one per Node, started by Start, ends with erl, awaited by Kill and by the end of the test.
//
// The module erltest (erltest.erl) is in the code path of every erl: a Node runs its function evaluate, and interpreters of
// scripts call its function play.
//
// It imports only packages logtest and testkit of this Go module, so that all tests may use it. Package epmdtest provides
// the EPMD for nodes to find each other.
//
// Script files are text. A line "== TITLE" begins a script, "----" separates the steps from the answer, which extends to
// the next title. Steps exclude empty lines and lines that begin with #. Text above the first title is a preface.
package erltest

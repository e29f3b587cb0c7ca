// Command tests runs the three tiers of tests, from any folder of the repository:
//
//	go run ./deploy/tests test             what one runs while working: needs Go and nothing else
//	go run ./deploy/tests merge            what must pass beside that before a change lands
//	go run ./deploy/tests night            the hours
//	go run ./deploy/tests merge race otp   some parts of a tier
//	go run ./deploy/tests list             the parts of each tier
//	go run ./deploy/tests shake            the packages of make test again and again on a machine that is busy
//
// A tier is a list of parts, each of which is a program that is run, mostly go test. A part
// goes on to its end whatever the others do; what it prints goes to a log, and is shown where
// it fails. At the end stand a table of parts, the slowest packages, what was left out and
// why, and how many tests have run.
//
// Tests know their tier by the environment variable ACTORNODE_TESTS, see package
// internal/testkit.
//
// Limits: an interrupt ends what runs, and the parts that have not begun are left out.
// Packages that take more than their budget (budgets.txt, in units of a calculation that is
// timed on the same machine) are reported; that fails nothing, for a machine may be busy.
package main

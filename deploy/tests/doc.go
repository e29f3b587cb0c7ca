// Command tests runs the three tiers of tests, from any directory of the repository:
//
//	go run ./deploy/tests test             what one runs while working: needs Go and nothing else
//	go run ./deploy/tests merge            what must pass beside that before a change lands
//	go run ./deploy/tests night            the hours
//	go run ./deploy/tests merge race otp   some parts of a tier
//	go run ./deploy/tests list             the parts of each tier
//	go run ./deploy/tests shake            the packages of make test again and again on a machine that is busy
//
// A tier is a list of parts, each of which runs a program, mostly go test. A part runs to its end even if others fail. Its
// output goes to a log, and is shown if it fails. The final report has a table of parts, the slowest packages, what was
// left out and why, and the number of tests run.
//
// Tests know their tier by the environment variable ACTORNODE_TESTS, see package
// internal/testkit.
//
// Limits: an interrupt ends the running part, and leaves out the others. Packages that exceed their time budget
// (budgets.txt, in units of a calculation timed on the same machine) are reported, but do not fail, since the machine may
// be busy.
package main

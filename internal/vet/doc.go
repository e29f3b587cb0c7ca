// Package vet finds misuses of package node in Go code that compiles: analyzers in the form of
// golang.org/x/tools/go/analysis, run by go vet with the program itself as its tool.
//
// # Nouns
//
//   - A handler is code that runs while an actor handles a message: every function and method that takes a *node.Context,
//     or a Context of genserver, statem, event or active. Init, Inherit and Terminate do not count: they run once.
//   - A directive is a comment that silences a report, or declares that a function blocks.
//
// # Analyzers
//
//	aftersend      a message that is changed after being sent
//	blocking       a blocking call in an actor's handler
//	contextescape  a Context or Process that escapes to another goroutine, or is kept
//	ignore         a directive without a reason
//	lostfuture     a Future whose result is lost
//	nodefault      a type switch over messages that ignores unknown messages
//	noreply        a request that is never answered
//
// # Rules
//
//  1. In doubt there is no report. The analyzers know neither what a function of another package does nor what an interface
//     value holds.
//  2. An analyzer checks one package at a time and writes no facts, so that go vet does not have to analyze imported
//     packages.
//  3. Each message suggests an alternative.
//
// # Directives
//
//	//actornode:ignore NAME reason   no report of analyzer NAME here
//	//actornode:blocks reason        this function, or the methods of this type, may block
//
// The first goes at the end of the line, or on separate lines above it; the second into the comment of the function or
// type. The analyzer ignore reports directives without a reason.
package vet

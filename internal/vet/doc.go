// Package vet finds misuses of package node in Go code that compiles: analyzers in the form of
// golang.org/x/tools/go/analysis, run by go vet with the program itself as its tool.
//
// # Nouns
//
//   - A handler is code that runs while an actor handles a message: every function and method
//     that takes a *node.Context, or a Context of genserver, statem, event or active. Init,
//     Inherit and Terminate are none: they run once.
//   - A directive is a comment that silences a report, or says what a function does.
//
// # Analyzers
//
//	aftersend      a message that is changed after it was sent
//	blocking       what keeps an actor's handler waiting
//	contextescape  a Context or Process that another goroutine gets, or that is kept
//	ignore         a directive without a reason
//	lostfuture     a Future whose result nobody can see
//	nodefault      a type switch over messages that passes over what it does not know
//	noreply        a request that nobody answers
//
// # Rules
//
//  1. In doubt there is no report. What a function of another package does is not known, and
//     neither is what a value in an interface holds.
//  2. An analyzer looks at one package at a time and writes no facts, so that go vet does not
//     have to analyze what the package imports.
//  3. Each message says what to do instead.
//
// # Directives
//
//	//actornode:ignore NAME reason   no report of analyzer NAME here
//	//actornode:blocks reason        this function, or the methods of this type, may block
//
// The first stands at the end of the line, or on lines of its own above it, the second in the
// comment of the function or type. Without a reason they are reported, by the analyzer ignore.
package vet

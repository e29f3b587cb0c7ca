// Package loglimit bounds a log that other nodes can provoke lines in: a slog.Handler that
// limits how many lines of one kind a second it writes, and how many bytes of each.
//
// # Nouns
//
//   - A [Handler] is around the handler that writes: slog.NewTextHandler, or any other.
//   - A kind of lines is a level and a message; numbers in the message do not count, and
//     neither do the attributes: the cause of a line must not be able to make new kinds.
//   - A [Config] sets how much is written.
//
// How it is used, in a program that runs a node:
//
//	h := loglimit.New(slog.NewTextHandler(os.Stderr, nil), loglimit.Config{})
//	defer h.Close()
//	n, err := node.Start(node.Config{Log: slog.New(h), …})
//
// # Invariants
//
//  1. In one second at most Config.Lines lines of a kind are written; below WARN ten times
//     as many. Lines of more kinds than Config.Kinds at a time count as one kind.
//  2. What is left out is counted in the log: the next line of the kind has not_logged=N, or,
//     when none has come for a second, a separate line has it. Close writes the rest.
//  3. A line takes at most Config.Bytes bytes in the formats of package slog; one of level
//     ERROR four times as many, for it may carry a stack. A cut value ends with how many
//     bytes were left out. It stays valid UTF-8, JSON or logfmt.
//  4. A line that could not be written is counted; as soon as one can be, a line reports how
//     many were lost, and why.
//
// Attributes of a type that package slog does not know are formatted as far as there
// is space. Errors and values that print themselves, or that marshal themselves, do that
// in full before they are cut.
//
// # Goroutines
//
//	name     started by          ends with                        owns
//	summary  a line left out     its lines, within two seconds    the lines about bursts that are over
//
// It is the goroutine of a timer, and there is one at most. Close stops it.
package loglimit

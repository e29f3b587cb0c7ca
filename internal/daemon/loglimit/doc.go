// Package loglimit bounds a log to which other nodes can cause lines: its slog.Handler limits the number of lines of one
// kind per second, and the bytes of each line.
//
// # Nouns
//
//   - A [Handler] wraps the handler that writes: slog.NewTextHandler, or any other.
//   - A kind of lines is a level and a message. Numbers in the message and attributes do not count: a remote node must not
//     be able to create new kinds.
//   - A [Config] sets the limits.
//
// How it is used, in a program that runs a node:
//
//	h := loglimit.New(slog.NewTextHandler(os.Stderr, nil), loglimit.Config{})
//	defer h.Close()
//	n, err := node.Start(node.Config{Log: slog.New(h), …})
//
// # Invariants
//
//  1. In one second at most Config.Lines lines of a kind are written; below WARN ten times as many. Lines of kinds beyond
//     Config.Kinds count as one kind.
//  2. Lines left out are counted in the log: the next line of the kind has not_logged=N; if none comes for a second, a
//     separate line has it. Close writes the rest.
//  3. A line takes at most Config.Bytes bytes in the formats of package slog; one of level ERROR four times as many, since
//     it may contain a stack. A cut value ends with the number of bytes left out. The line stays valid UTF-8, JSON or
//     logfmt.
//  4. Lines that could not be written are counted; the next successful write reports how many were lost, and why.
//
// Attributes of types unknown to package slog are formatted only as far as they fit. Errors and values that format or
// marshal themselves are formatted in full before they are cut.
//
// # Goroutines
//
//	name     started by          ends with                        owns
//	summary  a line left out     its lines, within two seconds    the lines about bursts that are over
//
// It is the goroutine of a timer, and there is at most one. Close stops it.
package loglimit

// Package printable makes texts that came from elsewhere fit to be shown on a terminal: names of processes and nodes, ids of
// children, labels, what peers say in errors. A terminal obeys what does not print (escape sequences, control characters),
// and reorders a line for what cannot be seen (bidirectional controls, characters of no width).
//
//   - [Text] is for a text within a line: it has no line breaks and no escape sequences left.
//   - [Writer] is the last thing before a terminal: it lets lines and colours pass and nothing else.
//   - [Escape] is for lines of a log and JSON, whose own escapes it uses.
package printable

// Package printable makes untrusted text safe for a terminal: names of processes and nodes, IDs of children, labels, error
// texts of peers. A terminal interprets unprintable characters (escape sequences, control characters), and reorders a line
// for invisible ones (bidirectional controls, zero-width characters).
//
//   - [Text] is for text within a line: it escapes line breaks and escape sequences.
//   - [Writer] is the last stage before a terminal: besides printable text it passes only line breaks, tabs and colours.
//   - [Escape] is for log lines and JSON, with JSON's escapes.
package printable

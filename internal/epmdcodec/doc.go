// Package epmdcodec has the messages of the Erlang Port Mapper Daemon's protocol: it
// converts between values and bytes, and needs no socket. Package epmd asks port mappers
// with it, package epmdserver is one.
//
// # Nouns
//
//   - A [Request] is what a caller asks, and has an [Op].
//   - An [AliveAnswer], [PortAnswer] or [NamesAnswer] is what a port mapper answers.
//   - A [Registration] is what a port mapper knows of a live node.
//
// # Invariants
//
//  1. No parser panics, and none keeps the bytes that it is given.
//  2. What a parser takes, Append writes with the same meaning.
//
// It starts no goroutine. The bytes are in the comment of package epmd.
package epmdcodec

// Package linkkit holds what every [dist.Protocol] must pass; package linktest shows it to
// programs. It runs two ends of a protocol over a pipe in memory.
//
// It knows no protocol's bytes. What a protocol cannot do it learns from [dist.Peer]; what is
// left out there is not tested. Which optional interfaces its links have the protocol's test
// says, see [Optional]: those it lacks are skipped, and said to be.
package linkkit

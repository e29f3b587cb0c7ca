// Package linktest holds what every [dist.Protocol] must pass, as testing/slogtest
// does for handlers: [Test] runs two ends of one over a pipe in memory.
//
// It knows no protocol's bytes. What a protocol cannot do it learns from
// [dist.Peer]; what is left out there is not tested. Which optional interfaces its links
// have the protocol's test says, see [Optional]: those it lacks are skipped, and said to be. A frame that has crossed
// must be the same in all fields that its Op gives a meaning, with two
// exceptions: the From of a message may get lost or, if it was zero, be made up,
// and Urgent may be ignored.
package linktest

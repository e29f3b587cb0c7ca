// Package linkkit contains the conformance tests for every [dist.Protocol]; package linktest exports them. It runs two ends
// of a protocol over an in-memory pipe.
//
// It does not depend on the encoding of a protocol. [dist.Peer] tells which features a protocol lacks; these are not
// tested. The protocol's test declares the optional interfaces of its links, see [Optional]: tests of missing ones are
// skipped and reported.
package linkkit

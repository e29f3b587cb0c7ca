// Package linktest has the conformance tests for every [dist.Protocol], like testing/slogtest for handlers: [Test] runs
// both ends of a protocol over an in-memory pipe.
//
// It is independent of a protocol's bytes. It does not test capabilities that the protocol's [dist.Peer] lacks. A received
// frame must equal the sent one in all fields that its Op uses, with two exceptions: the From of a message may be lost or,
// if it was zero, be invented, and Urgent may be ignored.
package linktest

import (
	"testing"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/wire/dist"
)

// Options describe the optional features of a protocol.
type Options struct {
	// Explains reports whether the links are a [dist.Explainer]; the test fails if this does not match.
	Explains bool
	// Whole means that peers accept only unfragmented messages, so that a long message delays those of other senders.
	Whole bool
}

// Test runs all tests of the kit against p.
func Test(t *testing.T, p dist.Protocol, o Options) {
	has := linkkit.Has(t, p) &^ linkkit.Explainer
	if o.Explains {
		has |= linkkit.Explainer
	}
	if o.Whole {
		linkkit.Whole(t, p, has)
	} else {
		linkkit.Test(t, p, has)
	}
}

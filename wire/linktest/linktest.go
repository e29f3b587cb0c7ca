// Package linktest holds what every [dist.Protocol] must pass, as testing/slogtest
// does for handlers: [Test] runs two ends of one over a pipe in memory.
//
// It knows no protocol's bytes. What a protocol cannot do it learns from
// [dist.Peer]; what is left out there is not tested. A frame that has crossed
// must be the same in all fields that its Op gives a meaning, with two
// exceptions: the From of a message may get lost or, if it was zero, be made up,
// and Urgent may be ignored.
package linktest

import (
	"testing"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/wire/dist"
)

// Options say what a protocol does that others do not.
type Options struct {
	// Explains: its links are a [dist.Explainer]. The test fails if they are not, or are
	// and this is not set.
	Explains bool
	// Whole: its peers take messages in one piece only, so that a long message holds up
	// those of other senders.
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

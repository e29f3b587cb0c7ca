package linktest_test

import (
	"testing"

	"github.com/actornode/actornode/wire/linktest"
	"github.com/actornode/actornode/wire/native"
)

// The test of a protocol is one line.
func Example() {
	_ = func(t *testing.T) { linktest.Test(t, &native.Protocol{}, linktest.Options{Explains: true}) }
}

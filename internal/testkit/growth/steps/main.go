// Command steps is package growth's test as a program, which can be built with go build -cover: so it can read its own
// counters, as a test cannot.
package main

import (
	"regexp"
	"testing"

	"github.com/actornode/actornode/internal/testkit/growth"
)

func main() {
	testing.Main(regexp.MatchString, []testing.InternalTest{{Name: "Growth", F: growth.Test}}, nil, nil)
}

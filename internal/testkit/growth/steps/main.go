// Command steps is package growth's test as a program built with go build -cover, which can read its own counters, unlike a
// test.
package main

import (
	"regexp"
	"testing"

	"github.com/actornode/actornode/internal/testkit/growth"
)

func main() {
	testing.Main(regexp.MatchString, []testing.InternalTest{{Name: "Growth", F: growth.Test}}, nil, nil)
}

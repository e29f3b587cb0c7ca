package limits

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
)

// Setting sets a field of node.Config that is 0 to its default by, and returns an error for one that is below 0 or above
// most; if most is 0, there is no maximum.
func Setting[T int | time.Duration](field string, is *T, by, most T) error {
	switch {
	case *is < 0:
		return fmt.Errorf("node: Config.%s %v: want 0 for the default, or more", field, *is)
	case most > 0 && *is > most:
		return fmt.Errorf("node: Config.%s %v: want at most %v", field, *is, most)
	}
	return fill(is, by)
}

// NodeName returns an error if the name of a node is invalid.
func NodeName(name wire.Atom) error {
	if err := links.CheckName(string(name)); err != nil {
		return fmt.Errorf("node: Config.Name: %w", err)
	}
	return nil
}

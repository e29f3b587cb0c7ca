// Package limits has the limits of what all other nodes together can make a node hold, and their
// defaults, and checks the settings of a node. node.ClusterLimits and node.Config say what each is.
//
// The package has no state, no clock and no goroutine.
package limits

import (
	"errors"
	"time"

	"github.com/actornode/actornode/node/internal/quota"
)

// Cluster is the limits. In each field 0 stands for the default.
type Cluster struct {
	Connections, ConnectionsPerSource, Pending, PendingPerSource, Dials int

	Queued, Answers, Fragments int // bytes
	Stall                      time.Duration

	Monitors, Links, Spawned, Names int // of one peer
}

// ErrNegative says that a limit is below 0.
var ErrNegative = errors.New("node: Distribution.Cluster: a limit must not be negative; 0 is its default")

// WithDefaults returns c with the defaults, that of Stall being stall. Errors: [ErrNegative].
func (c Cluster) WithDefaults(stall time.Duration) (Cluster, error) {
	for _, f := range []struct {
		is *int
		by int
	}{
		{&c.Connections, 8192}, {&c.Pending, 1024}, {&c.Dials, 64},
		{&c.Queued, 256 << 20}, {&c.Answers, 16 << 20}, {&c.Fragments, 512 << 20},
		{&c.Monitors, 1 << 18}, {&c.Links, 1 << 18}, {&c.Spawned, 1 << 17}, {&c.Names, 4096},
	} {
		if err := fill(f.is, f.by); err != nil {
			return c, err
		}
	}
	return c, errors.Join(
		fill(&c.ConnectionsPerSource, max(1, c.Connections/2)),
		fill(&c.PendingPerSource, max(8, c.Pending/8)),
		fill(&c.Stall, stall))
}

// fill gives a limit that is 0 its default.
func fill[T int | time.Duration](is *T, by T) error {
	if *is < 0 {
		return ErrNegative
	}
	if *is == 0 {
		*is = by
	}
	return nil
}

// Quota returns what peers may make the node hold. message is the longest message, in bytes.
func (c Cluster) Quota(message int) *quota.Quota {
	return quota.New(quota.Limits{
		Queued: c.Queued, Answers: c.Answers, Fragments: c.Fragments, Message: message, Stall: c.Stall,
		Monitors: c.Monitors, Links: c.Links, Spawned: c.Spawned, Names: c.Names,
	})
}

package limits

import (
	"cmp"
	"errors"
	"time"

	"github.com/actornode/actornode/wire/dist"
)

// Cluster is the limits for other nodes. In each field 0 means the default.
type Cluster struct {
	Connections, ConnectionsPerSource, Pending, PendingPerSource, Dials int

	Queued, Answers, Fragments int // bytes
	Stall                      time.Duration

	Monitors, Links, Spawned, Names int // per peer

	Held int // bytes of these, of all peers
}

// ErrNegative reports a limit below 0.
var ErrNegative = errors.New("node: Distribution.Limits.Cluster: a limit must not be negative; 0 is its default")

// WithDefaults returns c with the defaults, that of Stall being stall. Errors: [ErrNegative].
func (c Cluster) WithDefaults(stall time.Duration) (Cluster, error) {
	for _, f := range []struct {
		is *int
		by int
	}{
		{&c.Connections, 8192}, {&c.Pending, 1024}, {&c.Dials, 64},
		{&c.Queued, 256 << 20}, {&c.Answers, 16 << 20}, {&c.Fragments, 512 << 20},
		{&c.Monitors, 1 << 18}, {&c.Links, 1 << 18}, {&c.Spawned, 1 << 17}, {&c.Names, 4096},
		{&c.Held, 96 << 20},
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

// Default returns the limits of a node with the TickTime tick, or its default if 0, and that many ticks per TickTime.
func Default(tick, ticks time.Duration) Cluster {
	full, err := Cluster{}.WithDefaults(cmp.Or(tick, TickTime) / ticks)
	if err != nil {
		panic(err) // zeros are allowed
	}
	return full
}

// fill sets a limit that is 0 to its default.
func fill[T int | time.Duration](is *T, by T) error {
	if *is < 0 {
		return ErrNegative
	}
	if *is == 0 {
		*is = by
	}
	return nil
}

// Node is the limits that can change while a node runs. node.Limits documents the fields.
type Node struct {
	Queue   int // bytes
	Link    dist.LinkLimits
	Cluster Cluster
}

// WithDefaults returns n with the defaults, that of Stall being stall. Errors: [ErrNegative].
func (n Node) WithDefaults(stall time.Duration) (full Node, err error) {
	full = n
	err = fill(&full.Queue, queue)
	if err == nil {
		full.Cluster, err = n.Cluster.WithDefaults(stall)
	}
	return full, err
}

// Quota returns the limits for what peers may make the node hold.
func (n Node) Quota() Limits {
	c := n.Cluster
	return Limits{
		Queued: c.Queued, Answers: c.Answers, Fragments: c.Fragments, Message: n.Link.WithDefaults().Message, Stall: c.Stall,
		Monitors: c.Monitors, Links: c.Links, Spawned: c.Spawned, Names: c.Names, Held: c.Held,
	}
}

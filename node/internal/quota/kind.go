package quota

import "github.com/actornode/actornode/internal/limit"

// Kind is a kind of things that a single peer can make a node hold.
type Kind uint8

const (
	Monitors Kind = iota
	Links
	Spawned
	Names

	Kinds // how many there are
)

var kinds = [Kinds]string{Monitors: "monitors", Links: "links", Spawned: "spawned", Names: "names"}

// String returns the name of k, as the log and the limits have it.
func (k Kind) String() string {
	if k < Kinds {
		return kinds[k]
	}
	return "invalid"
}

// Limit returns the limit for things of a kind.
func (q *Quota) Limit(k Kind) *limit.Limit {
	return [Kinds]*limit.Limit{q.Monitors, q.Links, q.Owners.Spawned, q.Owners.Names}[k]
}

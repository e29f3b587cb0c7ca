package limits

// HeldKind is a kind of things that a single peer can make a node hold.
type HeldKind uint8

const (
	HeldMonitors HeldKind = iota
	HeldLinks
	HeldSpawned
	HeldNames

	HeldKinds // the number of kinds
)

var heldKinds = [HeldKinds]string{HeldMonitors: "monitors", HeldLinks: "links", HeldSpawned: "spawned", HeldNames: "names"}

// String returns the name of k, as used in the log and in limits.
func (k HeldKind) String() string {
	if k < HeldKinds {
		return heldKinds[k]
	}
	return "invalid"
}

// Limit returns the limit for things of a kind.
func (q *Quota) Limit(k HeldKind) *Limit {
	return [HeldKinds]*Limit{q.Monitors, q.Links, q.Owners.Spawned, q.Owners.Names}[k]
}

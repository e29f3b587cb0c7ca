package native

import "github.com/actornode/actornode/wire"

// pidPlaces is how many pids a table holds: their places are fixints.
const pidPlaces = 128

// pidTable are the pids that one side has sent the other, in fields of one kind.
type pidTable [pidPlaces]wire.PID

// pidPlace is where in its table a pid stands: processes that were started one
// after the other do not meet.
func pidPlace(number uint64) int { return int((number ^ number>>32) % pidPlaces) }

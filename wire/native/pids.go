package native

import "github.com/actornode/actornode/wire"

// pidPlaces is the number of pids in a table: their places are fixints.
const pidPlaces = 128

// pidTable holds the pids that one side has sent to the other, in fields of one kind.
type pidTable [pidPlaces]wire.PID

// pidPlace returns the place of a pid in its table. Processes that were started one after the other have different places.
func pidPlace(number uint64) int { return int((number ^ number>>32) % pidPlaces) }

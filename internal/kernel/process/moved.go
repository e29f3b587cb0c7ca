package process

import (
	"sync"

	"github.com/actornode/actornode/wire"
)

// Moved is the record of a process that has moved. The lock of the process guards it; Parent is immutable.
type Moved struct {
	Parent   wire.PID              // the parent of the process, at the time of the spawn
	Links    map[wire.PID]wire.PID // the holder of each link to a process
	Monitors map[wire.Ref]wire.PID // and of each monitor
	Next     wire.PID              // of a forwarder: where the process has gone; zero if it is here
	Trail    []wire.PID            // forwarders of the process, one per node
	Identity wire.Ref              // of the process, unguessable
	// Tell tells the holder of a link or of a monitor that it has been removed. It does not block.
	Tell func(holder, link wire.PID, monitor wire.Ref)
}

// Take removes the entry of a link, or of a monitor, and tells the holder. It returns false if there is none. mu is the lock
// of the process. r may be nil.
func (r *Moved) Take(mu sync.Locker, link wire.PID, monitor wire.Ref) bool {
	if r == nil {
		return false
	}
	mu.Lock()
	holder, ok := r.Links[link]
	if !monitor.IsZero() {
		holder, ok = r.Monitors[monitor]
	}
	delete(r.Links, link)
	delete(r.Monitors, monitor)
	mu.Unlock()
	if ok {
		r.Tell(holder, link, monitor)
	}
	return ok
}

package registry

import (
	"fmt"

	"github.com/actornode/actornode/node"
)

// Messages to the process of a Registry.
type (
	look  struct{ pid node.PID } // it may have got its first entry, or lost its last one
	flush struct{}               // there are changes to be sent
)

// server is the behaviour of the process of a Registry.
type server[K comparable, V any] struct {
	r        *Registry[K, V]
	monitors map[node.PID]node.Ref // over all with an entry, and over all that watch
}

// BehaviourName is part of node.BehaviourNamer.
func (*server[K, V]) BehaviourName() string { return "registry" }

// Init is part of node.Initializer.
//
//actornode:blocks the lock of the table is held for a moment
func (s *server[K, V]) Init(c *node.Context) error {
	s.monitors = make(map[node.PID]node.Ref)
	r := s.r
	r.mu.Lock()
	if r.n == nil || r.n != c.Node() && (r.isOver() || r.size+len(r.watchers) == 0) {
		r.beginLocked(c.Node())
	}
	if r.n != c.Node() || !r.server.IsZero() && r.n.IsAlive(r.server) {
		defer r.mu.Unlock()
		return fmt.Errorf("%w: the registry has a process, %v, or processes of another node, already", node.ErrArgument, r.server)
	}
	r.server = c.Self()
	var all []node.PID
	for pid := range r.pids {
		all = append(all, pid)
	}
	for pid := range r.watchers {
		all = append(all, pid)
	}
	r.mu.Unlock()
	for _, pid := range all {
		s.look(c, pid)
	}
	s.flush(c)
	return nil
}

// Receive is part of node.Actor.
//
//actornode:blocks the lock of the table is held for a moment
func (s *server[K, V]) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case look:
		s.look(c, m.pid)
	case flush:
		s.flush(c)
	case node.Down:
		delete(s.monitors, m.PID)
		s.r.mu.Lock()
		s.r.goneLocked(m.PID)
		s.r.mu.Unlock()
	default:
		c.Unknown(msg)
	}
	return nil
}

// look monitors a process that has an entry or watches, and no other.
//
//actornode:blocks the lock of the table is held for a moment
func (s *server[K, V]) look(c *node.Context, pid node.PID) {
	s.r.mu.RLock()
	_, watches := s.r.watchers[pid]
	wanted := watches || s.r.pids[pid] != nil
	s.r.mu.RUnlock()
	switch ref, has := s.monitors[pid]; {
	case wanted && !has:
		s.monitors[pid] = c.Monitor(pid)
	case !wanted && has:
		c.DemonitorFlush(ref)
		delete(s.monitors, pid)
	}
}

// flush sends the changes.
//
//actornode:blocks the lock of the table is held for a moment
func (s *server[K, V]) flush(c *node.Context) {
	r := s.r
	r.sending.Lock()
	defer r.sending.Unlock()
	r.mu.Lock()
	changes, first, dropped := r.changes, r.first, r.dropped
	r.changes, r.first, r.dropped = nil, first+uint64(len(changes)), 0
	watchers := make(map[node.PID]uint64, len(r.watchers))
	for pid, from := range r.watchers {
		watchers[pid] = from
	}
	r.mu.Unlock()
	if dropped > 0 {
		c.Log().Warn("changes of a registry were dropped: too many waited", "dropped", dropped, "limit", mostChanges)
	}
	for i, change := range changes {
		for pid, from := range watchers {
			if first+uint64(i) >= from {
				_ = c.Node().SendOpt(node.SendOptions{NoWait: true}, pid, change) // also if this process is killed meanwhile
			}
		}
	}
}

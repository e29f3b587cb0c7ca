package peers

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

var errDisconnected = errors.New("disconnected by this node")

// isOrderly reports whether a connection has ended because one of the nodes wanted that: the peer has said goodbye, if its
// protocol supports that, or has reconnected, or this node has disconnected. A peer that does not answer, a network failure,
// a violation of the protocol or of a limit are not orderly.
func isOrderly(why error) bool {
	return errors.Is(why, io.EOF) || errors.Is(why, errDisconnected) || errors.Is(why, errReplaced) || errors.Is(why, errStopping)
}

const (
	mostLosses = 200       // remembered losses; a further one evicts the oldest
	lossTime   = time.Hour // how long a loss is remembered, unless the node is connected before
)

// losses are the nodes whose connection has ended in no orderly way and that have not been connected since. The zero value is
// empty.
type losses struct {
	mu sync.Mutex
	m  map[wire.Atom]loss
}

type loss struct {
	at  time.Time
	why string
}

func (l *losses) add(name wire.Atom, why error, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = make(map[wire.Atom]loss)
	}
	if _, ok := l.m[name]; !ok && len(l.m) >= mostLosses {
		var oldest wire.Atom
		for other, x := range l.m {
			if oldest == "" || x.at.Before(l.m[oldest].at) {
				oldest = other
			}
		}
		delete(l.m, oldest)
	}
	l.m[name] = loss{now, MeshFailure(why)}
}

func (l *losses) forget(name wire.Atom) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.m, name)
}

// all returns the losses to be shown, and removes the older ones.
func (l *losses) all(now time.Time) map[wire.Atom]loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[wire.Atom]loss, len(l.m))
	for name, x := range l.m {
		if now.Sub(x.at) > lossTime {
			delete(l.m, name)
		} else {
			all[name] = x
		}
	}
	return all
}

// Wanted returns the nodes that this one should be connected to, sorted by name: those listed by the mesh, and those lost.
func (c *Cluster) Wanted() []observe.Wanted {
	var listed []MeshListed
	if c.mesher != nil {
		c.meshing.Lock()
		listed = c.mesher.Listed()
		c.meshing.Unlock()
	}
	all, lost := []observe.Wanted{}, c.losses.all(c.cfg.Env.Now())
	for _, l := range listed {
		w := observe.Wanted{Name: l.Name, Listed: true, Up: c.IsUp(l.Name)}
		if !w.Up {
			x := lost[l.Name]
			w.Since, w.Failure, w.Next = l.Since, cmp.Or(l.Failure, x.why), l.Next
			if !x.at.IsZero() {
				w.Since = x.at
			}
		}
		all = append(all, w)
		delete(lost, l.Name)
	}
	for name, x := range lost {
		if !c.IsUp(name) {
			all = append(all, observe.Wanted{Name: name, Since: x.at, Failure: x.why})
		}
	}
	slices.SortFunc(all, func(a, b observe.Wanted) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return all
}

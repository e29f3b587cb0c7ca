package command

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
)

// joins holds the attempts to connect to the nodes of discovery.join.
type joins struct {
	mu    sync.Mutex
	ctx   context.Context               // ends all attempts; nil before join and after endJoins
	ended map[string]context.CancelFunc // cancels a started attempt, by the name of the node
}

// Pauses between attempts to connect.
const (
	joinPause    = 500 * time.Millisecond
	maxJoinPause = 30 * time.Second
)

// join starts connecting to the nodes to be joined. Its goroutines end with ctx; down waits for them.
func (d *daemon) join(ctx context.Context) {
	d.joins.mu.Lock()
	d.joins.ctx, d.joins.ended = ctx, make(map[string]context.CancelFunc)
	d.joins.mu.Unlock()
	d.joinOthers()
}

// joinOthers starts connecting to each node that is new in discovery.join, until it has been connected once, and gives up
// those that are no longer there.
func (d *daemon) joinOthers() {
	d.joins.mu.Lock()
	defer d.joins.mu.Unlock()
	if d.joins.ctx == nil {
		return
	}
	others := d.others()
	for name, end := range d.joins.ended {
		if !slices.Contains(others, name) {
			end()
			delete(d.joins.ended, name)
		}
	}
	for _, name := range others {
		if d.joins.ended[name] == nil {
			ctx, end := context.WithCancel(d.joins.ctx)
			d.joins.ended[name] = end
			d.joining.Go(func() { d.joinOne(ctx, name) }) // ended by ctx at the latest; down waits for it
		}
	}
	if len(others) == 0 {
		d.joined.Store(true)
	}
}

// joinOne tries to connect to a node until it succeeds once.
func (d *daemon) joinOne(ctx context.Context, name string) {
	for pause := joinPause; ; pause = min(2*pause, maxJoinPause) {
		err := d.n.Connect(ctx, node.Atom(name))
		if err == nil {
			d.joined.Store(true)
			return
		}
		if ctx.Err() != nil {
			return
		}
		d.log.Warn("cannot connect to a node of discovery.join: will retry", "peer", name, "error", err, "again_in", pause.String())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// endJoins prevents new attempts. Those in progress end with the context passed to join.
func (d *daemon) endJoins() {
	d.joins.mu.Lock()
	defer d.joins.mu.Unlock()
	d.joins.ctx = nil
}

// notJoined returns an error if no node to be joined, or no node of the mesh, has been connected yet.
func (d *daemon) notJoined() error {
	if !d.joined.Load() {
		return fmt.Errorf("not connected yet to any node of %v", d.others())
	}
	if d.meshed.Load() || !d.cfg.Discovery.Mesh {
		return nil
	}
	listed := 0
	for _, w := range d.n.Wanted() {
		if w.Up {
			d.meshed.Store(true)
			return nil
		}
		if w.Listed {
			listed++
		}
	}
	switch {
	case listed == 0: // this node seems to be the first
		return nil
	case time.Since(d.begun) > meshTime: // the others may be dead: become ready anyway
		d.meshed.Store(true)
		return nil
	}
	return fmt.Errorf("not connected yet to any of the %d nodes that discovery lists", listed)
}

// meshTime is how long a node stays unready while it is connected to none of the other listed nodes.
const meshTime = time.Minute

// others returns the nodes to be joined without this one: all nodes may share the same file.
func (d *daemon) others() []string {
	join := slices.Clone(d.live.Load().Discovery.Join)
	return slices.DeleteFunc(join, func(name string) bool { return name == d.cfg.Name })
}

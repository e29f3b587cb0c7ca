package command

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/node"
)

// joins are the attempts to connect to the nodes of discovery.join.
type joins struct {
	mu    sync.Mutex
	ctx   context.Context               // what all of them end with; nil: none may begin, yet or any more
	ended map[string]context.CancelFunc // by the name of the node, of each that has begun
}

// Pauses between attempts to connect.
const (
	joinPause    = 500 * time.Millisecond
	maxJoinPause = 30 * time.Second
)

// join begins to connect to the nodes that are to be joined. What it starts ends with ctx; down waits for it.
func (d *daemon) join(ctx context.Context) {
	d.joins.mu.Lock()
	d.joins.ctx, d.joins.ended = ctx, make(map[string]context.CancelFunc)
	d.joins.mu.Unlock()
	d.joinOthers()
}

// joinOthers connects to the nodes that are to be joined now and were not before, each until it has been connected once, and
// gives up those that are no longer to be joined.
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

// joinOne connects to a node, until that has succeeded once.
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

// endJoins has none begin any more. Those that have begun end with the context that join got.
func (d *daemon) endJoins() {
	d.joins.mu.Lock()
	defer d.joins.mu.Unlock()
	d.joins.ctx = nil
}

// notJoined says that none of the nodes to be joined, or of those of the mesh, has been connected yet, or nil.
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
	case listed == 0: // it is the first, as far as anybody knows
		return nil
	case time.Since(d.begun) > meshTime: // the others may be dead: this one serves all the same
		d.meshed.Store(true)
		return nil
	}
	return fmt.Errorf("not connected yet to any of the %d nodes that discovery lists", listed)
}

// meshTime is how long a node is not ready because it is connected to none of the others that are listed.
const meshTime = time.Minute

// others are the nodes to be joined: the same file may be all nodes', and so name
// this one too.
func (d *daemon) others() []string {
	join := slices.Clone(d.live.Load().Discovery.Join)
	return slices.DeleteFunc(join, func(name string) bool { return name == d.cfg.Name })
}

package command

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/daemon/memory"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/observe"
)

// heapGrowth is the value of GOGC. Messages are short-lived: at the default of 100 a node with little else in its heap
// would collect it a hundred times a second, and exchange messages at half the speed. The soft limit keeps the heap within
// the available memory.
const heapGrowth = 400

// growHeap sets GOGC to heapGrowth, unless the environment sets it, and the soft memory limit.
func growHeap(cfg *config.Config, lookup func(string) (string, bool)) memory.Limit {
	if _, said := lookup("GOGC"); !said {
		debug.SetGCPercent(heapGrowth)
	}
	return memory.Set(int64(cfg.Limits.Memory), lookup)
}

// within lowers the limits that are at their defaults if memory is small: the data that the node keeps for all peers
// together may take a quarter of it, since it costs more than its bytes, and most of the rest is garbage not yet collected.
func within(c node.ClusterLimits, memory int64) node.ClusterLimits {
	usual := node.DefaultClusterLimits(0)
	for _, f := range []struct {
		is    *int
		usual int
		share int64
	}{{&c.Queued, usual.Queued, 16}, {&c.Fragments, usual.Fragments, 8}, {&c.Held, usual.Held, 16}} {
		if memory > 0 && *f.is == f.usual {
			*f.is = min(f.usual, int(max(memory/f.share, 1<<20)))
		}
	}
	return c
}

// memoryWatch is the state of the daemon's memory.
type memoryWatch struct {
	limit atomic.Pointer[memory.Limit] // replaced by a reload; never nil
	short atomic.Bool                  // the live memory is too large: the node sheds load
	used  atomic.Int64
}

// memoryPause is the interval of watch.
const memoryPause = time.Second

// watch measures the memory until ctx ends, and makes n shed load while memory is short.
func (h *memoryWatch) watch(ctx context.Context, n *node.Node, log *slog.Logger) {
	tick := time.NewTicker(memoryPause)
	defer tick.Stop()
	var limit *memory.Limit
	var g *memory.Gauge
	for now := time.Now(); ; {
		if is := h.limit.Load(); is != limit {
			if limit = is; limit.Err != nil {
				log.Warn("cannot tell how much memory is available", "error", limit.Err)
			}
			g = memory.NewGauge(limit.Bytes)
		}
		short, changed := false, h.short.Load()
		if limit.Bytes > 0 {
			was := changed
			short, _ = g.Read(now)
			changed = short != was
			h.used.Store(g.Used())
		}
		if changed {
			h.short.Store(short)
			n.Inside(process.Key{}).Shed(short)
			if short {
				log.Error("memory is short: new connections and remote spawns are refused",
					"used", g.Used(), "limit", limit.Bytes, "limit_from", limit.From)
			} else {
				_, refused := n.Inside(process.Key{}).Shedding()
				log.Info("memory is no longer short: new connections and remote spawns are accepted again", "used", g.Used(), "limit",
					limit.Bytes, "refused", refused)
			}
		}
		select {
		case now = <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// notReady returns an error if the daemon is not ready because memory is short.
func (h *memoryWatch) notReady() error {
	if !h.short.Load() {
		return nil
	}
	return fmt.Errorf("%d of %d bytes are in use: new connections and spawns are refused", h.used.Load(), h.limit.Load().Bytes)
}

// limits returns the limits of the program and of its parts outside the node.
func (d *daemon) limits() []observe.Limit {
	_, refused := d.n.Inside(process.Key{}).Shedding()
	all := []observe.Limit{
		{Name: "memory", Max: d.heap.limit.Load().Bytes, Used: d.heap.used.Load(), Refused: refused},
		{Name: "log_lines", Max: int64(d.cfg.Log.Lines), Refused: d.log.limits.Counts().LeftOut},
	}
	if http := d.http.Load(); http != nil {
		open, most, closed := http.Use()
		all = append(all, observe.Limit{Name: "http", Max: int64(most), Used: int64(open), Refused: closed})
	}
	if scope := d.scope.Load(); scope != nil {
		all = append(all, scope.Limits()...)
	}
	if d.gossip != nil {
		s := d.gossip.Stats()
		all = append(all, observe.Limit{Name: "gossip_streams", Max: int64(s.StreamsLimit), Used: int64(s.Streams),
			Refused: s.StreamsRefused + s.StreamsCut})
	}
	return all
}

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

// heapGrowth is how many percent the heap may grow until it is collected, Go's GOGC.
// Messages live for a moment: at the default of 100 a node with little else in its
// heap would collect it a hundred times a second, and exchange messages at half the
// speed. The soft limit keeps the heap within the memory that there is.
const heapGrowth = 400

// growHeap sets heapGrowth, unless the environment sets GOGC, and the soft limit
// of the memory.
func growHeap(cfg *config.Config, lookup func(string) (string, bool)) memory.Limit {
	if _, said := lookup("GOGC"); !said {
		debug.SetGCPercent(heapGrowth)
	}
	return memory.Set(int64(cfg.Limits.Memory), lookup)
}

// within returns limits with less of what is at its default where there is little memory: what all peers together make the
// node keep may take a quarter of it, for it costs more than its bytes, and most of the rest is the garbage of the meantime.
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

// memoryWatch is what the daemon knows about its memory.
type memoryWatch struct {
	limit atomic.Pointer[memory.Limit] // another one after a reload; never nil
	short atomic.Bool                  // too much of it lives: the node sheds load
	used  atomic.Int64
}

// memoryPause is between two looks at the memory.
const memoryPause = time.Second

// watch looks at the memory until ctx ends, and has n shed load while too much of it
// lives.
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

// notReady says why the daemon is not ready; nil: its memory is no reason.
func (h *memoryWatch) notReady() error {
	if !h.short.Load() {
		return nil
	}
	return fmt.Errorf("%d of %d bytes are in use: new connections and spawns are refused", h.used.Load(), h.limit.Load().Bytes)
}

// limits are those of the program, and of what it runs beside the node.
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

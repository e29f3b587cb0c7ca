package otp

import (
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// sizes are what erlang:memory returns, in bytes.
type sizes struct {
	total, processes, used int
	objects, heap          int // of Go's heap: used and held
	stacks                 int
	meta                   int // what the runtime needs for itself
}

func memory() sizes {
	v := procview.Metrics("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/objects:bytes",
		"/memory/classes/heap/stacks:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/free:bytes")
	s := sizes{total: v[0] - v[1], objects: v[2], stacks: v[3], heap: v[2] + v[4] + v[5]}
	s.meta = max(s.total-s.heap-s.stacks, 0)
	s.processes = s.heap + s.stacks
	s.used = s.objects + s.stacks
	return s
}

// list is memory/0. Go does not distinguish the memory of processes from that of the system: heap and stacks count as
// memory of processes.
func (s sizes) list() wire.List {
	return wire.List{
		pair("total", s.total), pair("processes", s.processes), pair("processes_used", s.used), pair("system", s.total-s.processes),
		pair("atom", 0), pair("atom_used", 0), pair("binary", 0), pair("code", 0), pair("ets", 0),
	}
}

// of is memory/1: one kind, or a list of kinds.
func (s sizes) of(what any) (any, error) {
	find := func(kind any) any {
		for _, p := range s.list() {
			if p.(wire.Tuple)[0] == kind {
				return p.(wire.Tuple)[1]
			}
		}
		return nil
	}
	kinds, many := wire.AsList(what)
	if !many {
		if v := find(what); v != nil {
			return v, nil
		}
		return nil, errBadArg
	}
	l := wire.List{}
	for _, kind := range kinds {
		v := find(kind)
		if v == nil {
			return nil, errBadArg
		}
		l = append(l, wire.Tuple{kind, v})
	}
	return l, nil
}

// allocators returns Go's heap, its stacks and the rest as OTP shows its allocators.
func (s sizes) allocators() wire.List {
	l := wire.List{}
	for _, a := range []struct {
		name       wire.Atom
		used, held int
	}{{"go_heap", s.objects, s.heap}, {"go_stack", s.stacks, s.stacks}, {"go_runtime", s.meta, s.meta}} {
		held := max(a.held, 1) // observer divides by it
		none := wire.List{pair("blocks", wire.List{}), wire.Tuple{wire.Atom("carriers_size"), 0, 0, 0}}
		l = append(l, wire.Tuple{a.name, wire.List{wire.Tuple{wire.Atom("instance"), 0, wire.List{
			pair("mbcs", wire.List{
				pair("blocks", wire.List{wire.Tuple{a.name, wire.List{wire.Tuple{wire.Atom("size"), a.used, a.used, a.used}}}}),
				wire.Tuple{wire.Atom("carriers_size"), held, held, held},
			}),
			pair("sbcs", none),
		}}}})
	}
	return l
}

// counts are the previous values; statistics returns the difference to them.
type counts struct{ wall, cpu, reductions, exact int }

// since returns {Value, Value - *last}, and stores Value in last.
func (t *tools) since(last *int, v int) wire.Tuple {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := v - *last
	*last = v
	return wire.Tuple{v, d}
}

// counted adds up a counter that restarts when connections end.
type counted struct{ in, out, lastIn, lastOut uint64 }

// io returns {{input, Bytes}, {output, Bytes}}: the traffic of connections to other nodes. It never decreases.
func (t *tools) io() wire.Tuple {
	t.mu.Lock()
	defer t.mu.Unlock()
	in, out := t.n.Inside(process.Key{}).Traffic()
	c := &t.traffic
	if in < c.lastIn || out < c.lastOut { // a connection has ended: its bytes still count
		c.lastIn, c.lastOut = min(in, c.lastIn), min(out, c.lastOut)
	}
	c.in, c.out = c.in+in-c.lastIn, c.out+out-c.lastOut
	c.lastIn, c.lastOut = in, out
	return wire.Tuple{pair("input", int(c.in)), pair("output", int(c.out))}
}

// queue returns how many goroutines are runnable but not running.
func queue() int { return procview.Metrics("/sched/goroutines/runnable:goroutines")[0] }

// lengths returns a queue length for each scheduler; Go has one queue for all.
func lengths(total int) wire.List {
	l := make(wire.List, runtime.GOMAXPROCS(0))
	for i := range l {
		l[i] = total / len(l)
		if i < total%len(l) {
			l[i] = total/len(l) + 1
		}
	}
	return l
}

// schedulers is [{Id, Active, Total}]: the program's CPU time, in equal parts.
func (t *tools) schedulers() wire.List {
	l := make(wire.List, runtime.GOMAXPROCS(0))
	cpu, _ := usage()
	wall := t.cfg.Now().Sub(t.born)
	for i := range l {
		l[i] = wire.Tuple{i + 1, int(min(cpu/time.Duration(len(l)), wall)), int(wall)}
	}
	return l
}

// statistics is erlang:statistics. A reduction is a microsecond of CPU time.
func (t *tools) statistics(what any) (any, error) {
	cpu, switches := usage()
	name, _ := what.(wire.Atom)
	switch name {
	case "wall_clock":
		return t.since(&t.last.wall, int(t.cfg.Now().Sub(t.born).Milliseconds())), nil
	case "runtime":
		return t.since(&t.last.cpu, int(cpu.Milliseconds())), nil
	case "reductions":
		return t.since(&t.last.reductions, int(cpu.Microseconds())), nil
	case "exact_reductions":
		return t.since(&t.last.exact, int(cpu.Microseconds())), nil
	case "io":
		return t.io(), nil
	case "context_switches":
		return wire.Tuple{int(switches), 0}, nil
	case "garbage_collection":
		v := procview.Metrics("/gc/cycles/total:gc-cycles", "/gc/heap/frees:bytes")
		return wire.Tuple{v[0], v[1] / wordBytes, 0}, nil
	case "run_queue", "total_run_queue_lengths", "total_run_queue_lengths_all":
		return queue(), nil
	case "run_queue_lengths", "run_queue_lengths_all":
		return lengths(queue()), nil
	case "active_tasks", "active_tasks_all":
		return lengths(queue() + running()), nil
	case "total_active_tasks", "total_active_tasks_all":
		return queue() + running(), nil
	case "scheduler_wall_time", "scheduler_wall_time_all":
		return t.schedulers(), nil
	case "microstate_accounting":
		return wire.List{}, nil
	}
	return nil, errBadArg
}

// running returns how many goroutines run, at least this one.
func running() int { return max(procview.Metrics("/sched/goroutines/running:goroutines")[0], 1) }

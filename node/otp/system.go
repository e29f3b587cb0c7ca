package otp

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// release is the OTP release that a node reports: the one whose answers it imitates.
const release = "25"

// Limits of OTP, for what a Go node does not have.
const (
	atomLimit = 1 << 20
	portLimit = 1 << 16
	etsLimit  = 8192
	busyLimit = 4 << 20 // node.Distribution.Limits.Queue
)

// fixed are the keys of system_info that never change.
var fixed = map[wire.Atom]any{
	"otp_release": wire.Charlist(release), "version": wire.Charlist(runtime.Version()), "machine": wire.Charlist("GO"),
	"system_architecture": wire.Charlist(runtime.GOARCH + "-" + runtime.GOOS),
	"wordsize":            wordBytes, "kernel_poll": wire.AtomTrue, "smp_support": wire.AtomTrue, "threads": wire.AtomTrue,
	"thread_pool_size": 0,
	"multi_scheduling": wire.Atom("enabled"), "multi_scheduling_blockers": wire.List{}, "scheduler_bind_type": wire.Atom("unbound"),
	"atom_limit": atomLimit, "atom_count": 0, "port_limit": portLimit, "port_count": 0, "ets_limit": etsLimit, "ets_count": 0,
	"dist_buf_busy_limit": busyLimit, "dist_ctrl": wire.List{}, "dirty_cpu_schedulers": 0, "dirty_cpu_schedulers_online": 0,
	"dirty_io_schedulers": 0, "emu_flavor": wire.Atom("go"), "emu_type": wire.Atom("opt"), "build_type": wire.Atom("opt"),
	"compat_rel": 25, "debug_compiled": wire.AtomFalse, "heap_type": wire.Atom("shared"), "port_parallelism": wire.AtomFalse,
	"message_queue_data": wire.Atom("off_heap"), "max_heap_size": maxHeap, "min_heap_size": pair("min_heap_size", 0),
	"min_bin_vheap_size": pair("min_bin_vheap_size", 0), "fullsweep_after": pair("fullsweep_after", 0),
	"garbage_collection": wire.List{pair("max_heap_size", 0), pair("min_bin_vheap_size", 0), pair("min_heap_size", 0),
		pair("fullsweep_after", 0)},
	"time_correction": wire.AtomTrue, "time_offset": wire.Atom("final"), "time_warp_mode": wire.Atom("no_time_warp"),
	"trace_control_word": 0,
	"tolerant_timeofday": wire.Atom("enabled"), "update_cpu_info": wire.Atom("unchanged"),
	"modified_timing_level": wire.AtomUndefined,
	"nif_version":           wire.Charlist("0.0"), "driver_version": wire.Charlist("0.0"), "delayed_node_table_gc": 60,
	"async_dist":            wire.AtomFalse,
	"alloc_util_allocators": wire.List{wire.Atom("go_heap"), wire.Atom("go_stack"), wire.Atom("go_runtime")},
}

// systemInfo is erlang:system_info.
func (t *tools) systemInfo(what any) (any, error) {
	if k, ok := what.(wire.Tuple); ok && len(k) == 2 {
		return t.systemPart(k)
	}
	name, _ := what.(wire.Atom)
	if v, ok := fixed[name]; ok {
		return v, nil
	}
	procs := runtime.GOMAXPROCS(0)
	switch name {
	case "process_count":
		return t.n.Stats().Processes, nil
	case "process_limit":
		return t.n.Inside(process.Key{}).MaxProcesses(), nil
	case "schedulers", "schedulers_online":
		return procs, nil
	case "schedulers_state":
		return wire.Tuple{procs, procs, procs}, nil
	case "scheduler_id":
		return 1, nil
	case "logical_processors", "logical_processors_online", "logical_processors_available":
		return runtime.NumCPU(), nil
	case "creation":
		return int(t.n.Creation()), nil
	case "start_time":
		return 0, nil
	case "end_time":
		return int64(maxUptime), nil
	case "system_version":
		return wire.Charlist(systemVersion()), nil
	}
	return nil, errBadArg
}

// maxUptime is when monotonic time ends, in ns.
const maxUptime = 1<<63 - 1

// systemPart answers a key {What, Which}.
func (t *tools) systemPart(k wire.Tuple) (any, error) {
	switch k[0] {
	case wire.Atom("wordsize"):
		if k[1] == wire.Atom("internal") || k[1] == wire.Atom("external") {
			return wordBytes, nil
		}
	case wire.Atom("allocator_sizes"), wire.Atom("allocator"):
		return pick(memory().allocators(), k[1])
	}
	return nil, errBadArg
}

// pick returns the named allocators from all: a list, or one.
func pick(all wire.List, which any) (any, error) {
	names, many := wire.AsList(which)
	if !many {
		names = []any{which}
	}
	l := wire.List{}
	for _, name := range names {
		for _, a := range all {
			if a := a.(wire.Tuple); a[0] == name {
				if !many {
					return a[1], nil
				}
				l = append(l, a)
			}
		}
	}
	if !many {
		return nil, errBadArg
	}
	return l, nil
}

// systemVersion returns a line for people, like the one that erl prints when it starts.
func systemVersion() string {
	v := "(devel)"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		v = b.Main.Version
	}
	return fmt.Sprintf("actornode %s [%s] [%s-%s] [smp:%d:%d]\n", v, runtime.Version(), runtime.GOARCH, runtime.GOOS,
		runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

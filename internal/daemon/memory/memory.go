// Package memory keeps a program within the memory that it may take: it chooses a soft
// limit for Go's collector, and finds out when the memory in use comes too near to it.
//
// A container whose memory is used up is killed, with all that runs in it. Go's collector
// does not know that limit: it lets the heap grow by a share of the live memory, which
// GOGC sets. With a soft limit (GOMEMLIMIT) it collects more often as the limit comes
// near, so GOGC may be large. It cannot go below the live memory: the program must keep
// that small, and [Gauge] reports when.
//
// # Goroutines
//
// None: the user of a [Gauge] polls it.
package memory

import (
	"cmp"
	"errors"
	"math"
	"runtime/debug"
	"sync"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Limit is the soft limit that a program has.
type Limit struct {
	Bytes int64  // 0: there is none
	From  string // what has set it: limits.memory, GOMEMLIMIT, cgroup, machine; "": nothing
	Of    int64  // of a cgroup or a machine: what there is in all
	Err   error  // why what a cgroup allows, or a machine has, is not known
}

// source is what a limit is chosen from.
type source struct {
	configured int64 // 0: nothing is
	env        bool  // GOMEMLIMIT is set,
	set        int64 // to this, as the runtime has read it
	cgroup     memlimit.Provider
	machine    memlimit.Provider
}

// What Go's limit does not count, a program takes as well: memory of the kernel for its
// sockets, C libraries, programs that it has started. And the collector is behind its limit by
// what is allocated while it marks, some tens of MiB on a busy machine. In a cgroup the memory
// is the program's, so the reserve may be small; a machine has other users.
const (
	cgroupReserve  = 10       // percent,
	fixedReserve   = 48 << 20 // and bytes, of a cgroup,
	mostReserve    = 4        // but not more than a quarter
	machineReserve = 15       // percent
)

// choose decides. What is configured counts first, then the environment, then the
// smaller one of the cgroup's and the machine's.
func (s source) choose() Limit {
	switch {
	case s.configured > 0:
		return Limit{Bytes: s.configured, From: "limits.memory"}
	case s.env && s.set == math.MaxInt64: // GOMEMLIMIT=off
		return Limit{From: "GOMEMLIMIT"}
	case s.env:
		return Limit{Bytes: s.set, From: "GOMEMLIMIT"}
	}
	var l Limit
	if all, err := s.machine(); err != nil {
		l.Err = err
	} else if all > 0 && all < math.MaxInt64/100 {
		of := int64(all)
		l = Limit{Bytes: of - of*machineReserve/100, From: "machine", Of: of}
	}
	all, err := s.cgroup()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		l.Err = errors.Join(l.Err, err)
	case all < math.MaxInt64/100 && all > 0:
		of := int64(all)
		reserve := min(of*cgroupReserve/100+fixedReserve, of/mostReserve)
		if l.Bytes == 0 || of-reserve < l.Bytes {
			l.Bytes, l.From, l.Of = of-reserve, "cgroup", of
		}
	}
	return l
}

// Set sets the soft limit: configured, in bytes, if that is not 0; else what GOMEMLIMIT
// says, else what is found in the cgroups of the process (v2 or v1, and those above
// it), less a tenth and 48 MiB, but at most a quarter; else 85% of the memory of the machine. lookup
// finds a variable of the environment. It can be called again, with another value.
func Set(configured int64, lookup func(string) (string, bool)) Limit {
	text, env := lookup("GOMEMLIMIT")
	was := atStart()
	l := source{
		configured: configured, env: env && text != "", set: was,
		cgroup: memlimit.FromCgroup, machine: memlimit.FromSystem,
	}.choose()
	debug.SetMemoryLimit(cmp.Or(l.Bytes, was))
	return l
}

// atStart is the limit before the first Set: what the runtime has read of GOMEMLIMIT.
var atStart = sync.OnceValue(func() int64 { return debug.SetMemoryLimit(-1) })

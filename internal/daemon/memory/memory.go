// Package memory keeps a program within its memory limit: it chooses a soft limit for Go's collector, and reports when the
// memory in use comes too close to it.
//
// A container that exceeds its memory is killed, with everything in it. Go's collector does not know that limit: it lets
// the heap grow by a share of the live memory, set by GOGC. With a soft limit (GOMEMLIMIT) it collects more often near the
// limit, so GOGC may be large. It cannot go below the live memory: the program must keep that small, and [Gauge] reports
// when.
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

// Limit is the soft limit of a program.
type Limit struct {
	Bytes int64  // 0 if there is none
	From  string // its origin: limits.memory, GOMEMLIMIT, cgroup, machine, or ""
	Of    int64  // the total of the cgroup or machine
	Err   error  // why the limit of the cgroup or the memory of the machine is unknown
}

// source is the input for choosing a limit.
type source struct {
	configured int64 // 0 if not configured
	env        bool  // GOMEMLIMIT is set,
	set        int64 // to this, as read by the runtime
	cgroup     memlimit.Provider
	machine    memlimit.Provider
}

// Go's limit does not count all memory of a program: kernel memory of its sockets, C libraries, programs that it has
// started. The collector also overshoots its limit by the allocations during marking, some tens of MiB on a busy machine.
// The memory of a cgroup belongs to the program, so the reserve may be small; a machine has other users.
const (
	cgroupReserve  = 10       // percent,
	fixedReserve   = 48 << 20 // and bytes, of a cgroup,
	mostReserve    = 4        // but not more than a quarter
	machineReserve = 15       // percent
)

// choose returns the configured limit, or else that of the environment, or else the smaller of those of the cgroup and the
// machine.
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

// Set sets the soft limit: configured, in bytes, if not 0; else GOMEMLIMIT; else the limit of the cgroups of the process
// (v2 or v1, and their parents) minus a tenth and 48 MiB, or minus a quarter if that is less; else 85% of the memory of the
// machine. lookup finds a variable of the environment. Set can be called again with another value.
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

// atStart is the limit before the first Set: GOMEMLIMIT as read by the runtime.
var atStart = sync.OnceValue(func() int64 { return debug.SetMemoryLimit(-1) })

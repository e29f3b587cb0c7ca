package keyed

import (
	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
)

// Stats are the counters of a group.
type Stats struct {
	Processes int // that have started, or are starting
	Waiting   int // uses that wait for a process to start, or to end before the next of its key starts
	// The following count since the group was made.
	Started     uint64
	EndedIdle   uint64 // because of Kind.Idle
	EndedFull   uint64 // because of Kind.Max
	EndedMemory uint64 // because of Kind.Memory
	Crashed     uint64 // failed starts included
	Refused     uint64 // uses, with ErrFull or ErrFailing
}

// Stats returns the counters.
func (g *Group[K]) Stats() Stats {
	n := func(i int) uint64 { return g.counts[i].Load() }
	return Stats{int(g.processes.Load()), int(g.waiting.Load()), n(countStarted), n(countIdle), n(countFull),
		n(countMemory), n(countCrashed), n(countRefusedFull) + n(countRefusedFailing)}
}

// What a group counts.
const (
	countStarted = iota
	countEnded   // as it was told, or by itself without a failure
	countIdle
	countFull
	countMemory
	countCrashed
	countRefusedFull
	countRefusedFailing
	counters
)

// series are the metrics of what is counted, each with its cause if it has one.
var series = [counters][2]string{
	countStarted:        {counter.KeyedStarted},
	countEnded:          {counter.KeyedEnded, "stopped"},
	countIdle:           {counter.KeyedEnded, "idle"},
	countFull:           {counter.KeyedEnded, "max"},
	countMemory:         {counter.KeyedEnded, "memory"},
	countCrashed:        {counter.KeyedEnded, "crashed"},
	countRefusedFull:    {counter.KeyedRefused, "full"},
	countRefusedFailing: {counter.KeyedRefused, "failing"},
}

// export makes the counters of the node that k adds to, and has the node read the gauges as long as the process of k lives.
func (k *keeper[K]) export() {
	in, name := k.c.Inside(process.Key{}), string(k.g.kind.Name)
	for i, s := range series {
		labels := []string{name, s[1]}
		if s[1] == "" {
			labels = labels[:1]
		}
		k.exported[i] = in.Counter(s[0], labels...)
	}
	in.Gauge(counter.KeyedProcesses, k.process.Gone, func() int { return int(k.g.processes.Load()) }, name)
	in.Gauge(counter.KeyedWaiting, k.process.Gone, func() int { return int(k.g.waiting.Load()) }, name)
}

func (k *keeper[K]) count(what int) {
	k.g.counts[what].Add(1)
	k.exported[what].Add(1)
}

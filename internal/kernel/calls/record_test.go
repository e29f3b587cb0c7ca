package calls_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
)

// A read record belongs to one wait, and never to one that is over, however fast one follows the other.
func TestRecordIsOfOneWait(t *testing.T) {
	const waits = 100_000
	var p calls.Promise
	var r calls.WaitRecord
	var over atomic.Uint64 // the waits up to this one are over
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				before := over.Load()
				k, process, since := r.Get(&p)
				if k == calls.WaitNone {
					continue
				}
				if uint64(since) != process || k != calls.WaitKind(process%6+1) || process <= before {
					t.Errorf("%v of %d since %d, and %d were over", k, process, since, before)
					return
				}
			}
		})
	}
	for i := uint64(1); i <= waits; i++ {
		ticket := p.Arm()
		r.Set(calls.WaitKind(i%6+1), i, int64(i), ticket)
		k, process, _ := r.Get(&p)
		if k == calls.WaitNone || process != i {
			t.Fatalf("wait %d is shown as %v of %d", i, k, process)
		}
		p.Begin(ticket, nil, nil)
		p.Finish(ticket)
		over.Store(i)
	}
	done.Store(true)
	readers.Wait()
	k, _, _ := r.Get(&p)
	require.Equal(t, calls.WaitNone, k)
}

func TestNewRecord(t *testing.T) {
	var p calls.Promise
	var r calls.WaitRecord
	k, _, _ := r.Get(&p)
	require.Equal(t, calls.WaitNone, k, "never armed")
	p.Arm()
	k, _, _ = r.Get(&p)
	require.Equal(t, calls.WaitNone, k, "armed, and nothing is said of it")
}

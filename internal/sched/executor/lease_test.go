package executor

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A lease never has two holders: its worker and the goroutine that revoked it exclude each other.
func TestLease(t *testing.T) {
	var cur atomic.Pointer[lease]
	var n int // guarded by the lease, and by its revoker
	const rounds = 3000
	done := make(chan struct{})
	go func() { // the worker; ends with the rounds
		defer close(done)
		for cur.Load() == nil {
			runtime.Gosched()
		}
		alone := runtime.GOMAXPROCS(0) == 1
		for i := 0; ; i++ {
			l := cur.Load()
			if l == nil {
				return
			}
			if alone && i%500 == 0 {
				runtime.Gosched() // else the other waits 10 ms for each of its turns
			}
			if l.enter() {
				n++
				l.leave()
			}
		}
	}()
	for range rounds {
		l := new(lease)
		cur.Store(l)
		for range 20 {
			runtime.Gosched()
		}
		l.revoke()
		n++
		was := n
		runtime.Gosched()
		require.Equal(t, was, n, "once revoked, always revoked")
	}
	cur.Store(nil)
	<-done
}

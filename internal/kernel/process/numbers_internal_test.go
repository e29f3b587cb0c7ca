package process

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUnique: no number is made twice, whoever makes it.
func TestUnique(t *testing.T) {
	const each, makers = 5000, 4
	var s sequence
	var all [2 * makers][each]uint64
	var wg sync.WaitGroup
	for i := range makers {
		wg.Go(func() {
			var own supply
			for k := range each {
				all[2*i][k], all[2*i+1][k] = own.Next(&s), s.Next()
			}
		})
	}
	wg.Wait()
	seen := map[uint64]bool{}
	for _, some := range all {
		for _, n := range some {
			assert.False(t, seen[n], "%d twice", n)
			seen[n] = true
		}
	}
}

package contract

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(100)
		start := time.Now()
		for range 10 {
			p.Wait()
		}
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
		assert.InDelta(t, 100, p.Rate(), 1e-9)
		time.Sleep(25 * time.Millisecond)
		assert.Zero(t, p.Next(), "late")
		assert.Zero(t, p.Next(), "late still")
		assert.Equal(t, 5*time.Millisecond, p.Next(), "it has caught up")
	})
}

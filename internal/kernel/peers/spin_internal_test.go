package peers

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// expected says what comes in time, and counts the waits for it.
type expected struct {
	comes  func() bool
	awaits int
}

func (e *expected) Await(time.Duration, func()) bool {
	e.awaits++
	return e.comes()
}

// A reader stays awake while that is useful, tries less and less often while it is not, and resumes soon when it is
// again; never beside another reader, and never where it is told not to or has no core to spare.
func TestSpin(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var awake atomic.Bool
	yes, no := func() bool { return true }, func() bool { return false }
	l := &expected{comes: yes}
	k := Spin{Link: l}
	after := func(messages int) int {
		l.awaits = 0
		for range messages {
			k.Await(time.Second, &awake, nil)
			assert.False(t, awake.Load() && l.awaits > 0)
		}
		return l.awaits
	}
	assert.Equal(t, 1000, after(1000))
	l.comes = no
	assert.Equal(t, 8, after(1+2+4+8+16+32+64+128), "after 1, 3, 7, ... messages")
	assert.Equal(t, 100, after(100*(maxSkip+1)))
	l.comes = yes
	after(maxSkip + 1)
	assert.Equal(t, 1000, after(1000))
	n := 0
	l.comes = func() bool { n++; return n%3 == 0 }
	after(10_000)
	assert.Less(t, after(10_000), 300, "one of three is not enough")
	l.comes = yes
	after(maxSkip + 1)
	l.comes = func() bool { n++; return n%10 != 0 }
	assert.Greater(t, after(10_000), 5000)

	l.comes = yes
	after(maxSkip + 1)
	l.comes = func() bool { k.contended = true; return true }
	assert.Equal(t, 8, after(1+2+4+8+16+32+64+128), "others need the core")
	l.comes = yes
	after(maxSkip + 1)
	assert.Equal(t, 10, after(10))
	awake.Store(true)
	assert.Zero(t, after(10), "another reader is awake")
	awake.Store(false)
	k.Await(-1, &awake, nil)
	assert.Zero(t, l.awaits)
	runtime.GOMAXPROCS(1)
	assert.Zero(t, after(10))
	new(Spin).Await(time.Second, &awake, nil)
}

func TestSpinTime(t *testing.T) {
	for _, test := range []struct {
		asked time.Duration
		cores int
		quota bool
		want  time.Duration
	}{
		{0, 2, false, DefaultReadTime},
		{time.Millisecond, 2, false, time.Millisecond},
		{-5, 64, false, -1},
		{0, 1, false, -1},
		{time.Millisecond, 1, false, -1},
		{0, 64, true, -1},
		{time.Millisecond, 64, true, -1},
	} {
		assert.Equal(t, test.want, SpinTime(test.asked, test.cores, test.quota), "%+v", test)
	}
}

package testkit

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// Limit bounds every wait of a test for something that must happen. It is a last resort: anything that takes longer hangs.
const Limit = 5 * time.Minute

// Context returns a context that ends with the test, and after Limit.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	t.Cleanup(cancel)
	return ctx
}

// Until polls until wrong returns "", for facts without a notification. After Limit the test fails with the last result of
// wrong. In a bubble of testing/synctest use synctest.Wait.
func Until(t testing.TB, wrong func() string) {
	t.Helper()
	UntilEvery(t, time.Millisecond, wrong)
}

// UntilEvery is Until for expensive checks: it polls once per interval.
func UntilEvery(t testing.TB, interval time.Duration, wrong func() string) {
	t.Helper()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	end := time.After(Limit)
	for w := wrong(); w != ""; w = wrong() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("after %v: %s", Limit, w)
		}
	}
}

// UntilTrue polls until fact returns true; what describes it.
func UntilTrue(t testing.TB, fact func() bool, what string) {
	t.Helper()
	Until(t, func() string {
		if fact() {
			return ""
		}
		return "not yet: " + what
	})
}

// Receive receives a value from ch, and fails the test if none comes, with the stacks of all goroutines in the log. A
// closed channel gives the zero value.
func Receive[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Limit):
		stacks := make([]byte, 1<<20)
		t.Fatalf("nothing came within %v\n%s", Limit, stacks[:runtime.Stack(stacks, true)])
		panic("unreachable")
	}
}

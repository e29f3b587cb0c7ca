package nodetest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/observe"
)

// Timeout is how long the functions of this package wait before they fail the test. Default: 10 s, or the duration in the
// environment variable NODETEST_TIMEOUT, for machines that are slow or busy. In a bubble it passes at once when everything is
// blocked.
var Timeout = timeout()

func timeout() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("NODETEST_TIMEOUT")); err == nil && d > 0 {
		return d
	}
	return 10 * time.Second
}

// Start starts a node with the configuration that [Config] returns. When the test ends the node is stopped, and the test fails
// if something still runs.
func Start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	n, err := node.Start(Config(t, cfg))
	if err != nil {
		t.Fatalf("a node has not started: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Errorf("the node %s has not stopped in order: %v", n.Name(), err)
		}
	})
	watchLeaks(t, n)
	return n
}

// Config returns cfg with what suits a test, for a program that starts its nodes itself. What cfg says stays. Otherwise
//
//   - the node logs to the output of the test;
//   - its StopTimeout and ConnectTimeout are Timeout, and its TickTime is at least twice that; in a bubble they are not set;
//   - with NODETEST_CHECK=1 in the environment the node checks its messages, unless it copies them: the test fails if one is
//     changed after it was sent. See [isolation.Config].
func Config(t testing.TB, cfg node.Config) node.Config {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	if os.Getenv("NODETEST_CHECK") == "1" && !cfg.Isolation.Check && !cfg.Isolation.Copy {
		cfg.Isolation.Check = true
		cfg.Isolation.Report = func(c isolation.Change) { t.Errorf("%v", c) }
	}
	if bubbles := time.Date(2000, time.December, 31, 0, 0, 0, 0, time.UTC); time.Now().Before(bubbles) {
		return cfg
	}
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, Timeout)
	if cfg.Distribution != nil {
		d := *cfg.Distribution
		d.Timing.ConnectTimeout = cmp.Or(d.Timing.ConnectTimeout, Timeout)
		d.Timing.TickTime = cmp.Or(d.Timing.TickTime, max(2*Timeout, time.Minute))
		cfg.Distribution = &d
	}
	return cfg
}

// Settle waits until what has been sent on the nodes, and what that has led to, is handled. In a bubble it is synctest.Wait,
// and includes what nodes send to each other. Without one it is [lifetime.Idle] of each node, and does not include that.
func Settle(t testing.TB, nodes ...*node.Node) {
	t.Helper()
	if waitInBubble() {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	for _, n := range nodes {
		if err := lifetime.Idle(ctx, n); err != nil {
			t.Fatalf("the node %s has not come to rest within %v:\n%s", n.Name(), Timeout, busy(n))
		}
	}
}

// waitInBubble is synctest.Wait. It returns false outside of a bubble.
func waitInBubble() (bubble bool) {
	defer func() {
		if why := recover(); why != nil && !strings.Contains(fmt.Sprint(why), "not in a bubble") {
			panic(why)
		}
	}()
	synctest.Wait()
	return true
}

// busy describes the processes of a node that are doing something.
func busy(n *node.Node) string {
	var b strings.Builder
	for p := range n.Infos() {
		if p.State != observe.Idle || p.Mailbox > 0 {
			b.WriteString(describe(p))
		}
	}
	return b.String()
}

// describe is a line about a process.
func describe(p observe.Process) string {
	s := p.PID.String()
	for _, more := range []string{string(p.Name), p.Label} {
		if more != "" {
			s += " " + more
		}
	}
	s = fmt.Sprintf("  %s: %s, %s, %d messages wait", s, p.Behaviour, p.State, p.Mailbox)
	if n := len(p.Monitors) + len(p.Named); n > 0 {
		s += fmt.Sprintf(", monitors %d", n)
	}
	if p.Wait.For != "" {
		s += fmt.Sprintf(", waits for %s", p.Wait.For)
	}
	return s + "\n"
}

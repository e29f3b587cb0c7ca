package nodetest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/observe"
)

// leakLabel is the label of the goroutines of a test that checks for leaks. A goroutine has the labels of the one that started
// it.
const leakLabel = "nodetest"

var (
	leakChecked sync.Map // the tests that have called CheckLeaks, a testing.TB each
	leakTests   atomic.Int64
)

// CheckLeaks makes a test fail that leaves something behind when it ends: on the nodes that it has started since, with [Start]
// or in a [Cluster], processes which are no daemons, with their names and monitors; timers; aliases. And in the program
// goroutines that it has started since, or its nodes have. What is still under way on a node is waited for, up to Timeout, and
// a goroutine for a second. It checks nothing if the test has failed anyhow.
//
// The timers and aliases of daemons count, since they cannot be told apart, and goroutines that a package of the program keeps
// from its first use on: use that before.
//
// Call it first in the test: what is closed, stopped or ended by a Cleanup that is registered later is no leak.
func CheckLeaks(t testing.TB) {
	label := fmt.Sprint(leakTests.Add(1))
	leakChecked.Store(t, true)
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(leakLabel, label)))
	t.Cleanup(func() {
		t.Helper()
		leakChecked.Delete(t)
		pprof.SetGoroutineLabels(context.Background()) // of this goroutine
		if t.Failed() {
			return
		}
		waitInBubble()
		left := labelled(label)
		for end := time.Now().Add(goroutineWait); left != "" && time.Now().Before(end); left = labelled(label) {
			<-time.After(time.Millisecond)
		}
		if left != "" {
			t.Errorf("goroutines that the test has started are left:\n%s", left)
		}
	})
}

// watchLeaks makes n part of what CheckLeaks checks, if t has called it.
func watchLeaks(t testing.TB, n *node.Node) {
	if _, ok := leakChecked.Load(t); !ok {
		return
	}
	own := make(map[node.PID]bool)
	for p := range n.Infos() {
		own[p.PID] = true
	}
	before := n.Stats()
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			return
		}
		if !waitInBubble() {
			ctx, cancel := context.WithTimeout(context.Background(), Timeout)
			defer cancel()
			_ = lifetime.Idle(ctx, n) // what is not idle by then is left
		}
		if left := leftOn(n, own, before); left != "" {
			t.Errorf("this is left on the node %s:\n%s", n.Name(), left)
		}
	})
}

// leftOn describes what is left on n except for its own processes, and what was there before, or returns "".
func leftOn(n *node.Node, own map[node.PID]bool, before observe.Stats) string {
	var b strings.Builder
	for p := range n.Infos() {
		if !own[p.PID] && !p.Daemon {
			b.WriteString(describe(p))
		}
	}
	stats := n.Stats()
	for what, count := range map[string]int{"timers": stats.Timers - before.Timers, "aliases": stats.Aliases - before.Aliases} {
		if count > 0 {
			fmt.Fprintf(&b, "  %d %s\n", count, what)
		}
	}
	return b.String()
}

// labelled returns the stacks of the goroutines with a label, or "".
func labelled(label string) string {
	var b, found bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1) // a Buffer takes all
	want := fmt.Appendf(nil, "%q:%q", leakLabel, label)
	for _, stack := range bytes.Split(b.Bytes(), []byte("\n\n")) {
		if bytes.Contains(stack, want) {
			found.Write(stack)
			found.WriteString("\n\n")
		}
	}
	return found.String()
}

// goroutineWait is how long a goroutine has to end after the nodes of its test have stopped: 1 s.
const goroutineWait = time.Second

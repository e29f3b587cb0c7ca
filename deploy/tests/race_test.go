package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConcurrent(t *testing.T) {
	for _, c := range []struct{ source, why string }{
		{`func f() { go g() }`, "starts a goroutine"},
		{`func f() { func() { go g() }() }`, "starts a goroutine"},
		{`import "sync"; var mu sync.Mutex`, "imports sync"},
		{`import . "sync"; var mu Mutex`, "imports sync"},
		{`import a "sync/atomic"; var n a.Int64`, "imports sync/atomic"},
		{`import "golang.org/x/sync/errgroup"`, "imports golang.org/x/sync/errgroup"},
		{`import "net/http"`, "imports net/http"},
		{`import "github.com/actornode/actornode/internal/sched/fiber"`, "imports github.com/actornode/actornode/internal/sched/fiber"},
		{`import "github.com/actornode/actornode/node"`, "imports github.com/actornode/actornode/node"},
		{`import "github.com/actornode/actornode/node/match"`, ""},
		{`type t struct{ done chan struct{} }`, "uses a channel"},
		{`func f(c C) { c.in() <- 1 }`, "uses a channel"},
		{`func f(c C) int { return <-c.out() }`, "uses a channel"},
		{`func f() { select {} }`, "uses a channel"},
		{`import "time"; var t = time.AfterFunc(1, f)`, "calls time.AfterFunc"},
		{`import clock "time"; var t = clock.AfterFunc(1, f)`, "calls time.AfterFunc"},
		{`import "runtime"; func f(p *int) { runtime.AddCleanup(p, g, 1) }`, "calls runtime.AddCleanup"},
		{`import "iter"; var next, stop = iter.Pull(s)`, "calls iter.Pull"},
		{`import "iter"; func f() iter.Seq[int]`, ""},
		{`import "time"; var t = time.Now()`, ""},
		{`func f(clock Clock) { clock.AfterFunc(1, g) }`, ""},
		{`type t struct{ goes, sync int }; func f() { defer g() } // go g()`, ""},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+c.source, 0)
		require.NoError(t, err, c.source)
		assert.Equal(t, c.why, concurrent(file), c.source)
	}
}

// Packages whose answer is known.
func TestRacePackages(t *testing.T) {
	all, err := listPackages()
	require.NoError(t, err)
	for _, p := range all {
		if notRaced[p.ImportPath] != "" {
			why, err := p.concurrent()
			require.NoError(t, err)
			assert.NotEmpty(t, why, "%s is not concurrent: it needs no exception", p.ImportPath)
		}
	}
	paths, err := racePackages()
	require.NoError(t, err)
	var below []string
	for _, p := range paths {
		require.True(t, strings.HasPrefix(p, ours+"/"), p)
		below = append(below, strings.TrimPrefix(p, ours+"/"))
	}
	assert.Subset(t, below, []string{"internal/sched/executor", "internal/sched/fiber", "internal/mailbox/inbox", "internal/wire/socket",
		"mailbox", "node", "internal/kernel/calls", "internal/kernel/flow", "supervisor", "wire/native"})
	for _, pure := range []string{"wire", "internal/wire/etfcodec", "internal/wire/fault", "internal/strict", "internal/vet"} {
		assert.NotContains(t, below, pure)
	}
}

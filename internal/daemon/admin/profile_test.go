package admin_test

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// spins uses the processor until over is set.
func spins(over *atomic.Bool) node.ProcessFunc {
	return func(*node.Process) error {
		for !over.Load() {
		}
		return nil
	}
}

// Each kind of profile arrives whole, also where the service is read-only.
func TestProfile(t *testing.T) {
	far, near := two(t, admin.Config{ReadOnly: true})
	var over atomic.Bool
	defer over.Store(true)
	_, err := far.SpawnOpt(node.Options{}, spins(&over))
	require.NoError(t, err)
	for _, kind := range []node.Atom{"cpu", "heap", "goroutine"} {
		var b bytes.Buffer
		q := admin.ProfileQuery{Kind: kind, For: 100 * time.Millisecond}
		require.NoError(t, admin.Profile(testkit.Context(t), near, far.Name(), q, testkit.Limit, &b), kind)
		p, err := profile.Parse(&b)
		require.NoError(t, err, kind)
		assert.NotEmpty(t, p.SampleType, kind)
	}
	var b bytes.Buffer
	q := admin.ProfileQuery{Kind: "trace", For: 10 * time.Millisecond}
	require.NoError(t, admin.Profile(testkit.Context(t), near, far.Name(), q, testkit.Limit, &b))
	assert.True(t, bytes.HasPrefix(b.Bytes(), []byte("go 1.")), "%.20q", b.Bytes())

	for _, q := range []admin.ProfileQuery{{Kind: "block"}, {Kind: "cpu", For: time.Hour}, {Kind: "cpu", For: -time.Second}} {
		err := admin.Profile(testkit.Context(t), near, far.Name(), q, testkit.Limit, &b)
		require.ErrorIs(t, err, admin.ErrBadRequest)
	}
}

// A program makes one CPU profile at a time: the second request is told so. A profile ends with its client.
func TestProfileBusy(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx, cancel := context.WithCancel(testkit.Context(t))
	first := make(chan error, 1)
	long := admin.ProfileQuery{Kind: "cpu", For: time.Minute}
	go func() { // until cancel is called
		err := admin.ErrBusy
		for errors.Is(err, admin.ErrBusy) { // by the attempt below, or another test
			err = admin.Profile(ctx, near, far.Name(), long, testkit.Limit, new(bytes.Buffer))
		}
		first <- err
	}()
	settles(t, func() bool { // the first is being made
		err := pprof.StartCPUProfile(new(bytes.Buffer))
		if err == nil {
			pprof.StopCPUProfile()
		}
		return err != nil
	})
	err := admin.Profile(testkit.Context(t), near, far.Name(), long, testkit.Limit, new(bytes.Buffer))
	require.ErrorIs(t, err, admin.ErrBusy)
	assert.Contains(t, err.Error(), "another cpu profile of the program is being made")
	cancel()
	require.ErrorIs(t, <-first, context.Canceled)
	settles(t, func() bool { // no profile is left
		if pprof.StartCPUProfile(new(bytes.Buffer)) != nil {
			return false
		}
		pprof.StopCPUProfile()
		return true
	})
}

// A profile is many events, of which few are in flight: one that is not read waits on the node.
func TestProfileWindow(t *testing.T) {
	far, near := two(t, admin.Config{})
	h, err := near.Open()
	require.NoError(t, err)
	defer h.Close(node.Normal)
	_, err = node.Call[wire.Tuple](testkit.Context(t), h, node.At{Name: admin.Name, Node: far.Name()},
		wire.Tuple{wire.Atom("profile"), wire.NewMap(wire.Atom("kind"), wire.Atom("goroutine"))})
	require.NoError(t, err)
	msg, ok := h.Receive().(wire.Tuple)
	require.True(t, ok)
	events, ok := wire.AsList(msg[2].(wire.Tuple)[1])
	require.True(t, ok)
	assert.LessOrEqual(t, len(events), 16)
}

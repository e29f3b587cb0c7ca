package rpc_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

var errSpoiled = errors.New("spoiled")

func mfa(m, f string, arity int) wire.Export {
	return wire.Export{Module: wire.Atom(m), Function: wire.Atom(f), Arity: arity}
}

func plus(_ context.Context, args []any) (any, error) { return args[0].(int) + args[1].(int), nil }

func idler([]any) (node.Actor, error) {
	return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
}

func TestExports(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	before := len(n.Inside(process.Key{}).Exports()) // what a node exports by itself
	require.NoError(t, rpc.Export(n, mfa("m", "plus", 2), plus))
	require.NoError(t, rpc.ExportBehaviour(n, mfa("m", "plus", 2), idler), "a function and a behaviour may share a name")
	require.NoError(t, rpc.ExportBehaviour(n, mfa("m", "idle", 0), idler))
	require.NoError(t, rpc.Export(n, mfa("a", "fail", 0), func(context.Context, []any) (any, error) { return nil, errSpoiled }))

	for _, c := range []struct {
		err  error
		want error
	}{
		{rpc.Export(n, mfa("m", "plus", 2), plus), node.ErrNameTaken},
		{rpc.ExportBehaviour(n, mfa("m", "idle", 0), idler), node.ErrNameTaken},
		{rpc.Export(n, mfa("m", "f", 0), nil), node.ErrArgument},
		{rpc.ExportBehaviour(n, mfa("m", "f", 0), nil), node.ErrArgument},
		{rpc.Export(n, mfa("", "f", 0), plus), node.ErrArgument},
		{rpc.Export(n, mfa("m", "", 0), plus), node.ErrArgument},
		{rpc.Export(n, mfa("m", "f", -1), plus), node.ErrArgument},
		{rpc.ExportBehaviour(n, mfa("m", "f", 256), idler), node.ErrArgument},
	} {
		assert.ErrorIs(t, c.err, c.want)
	}
	all := n.Inside(process.Key{}).Exports()
	assert.Len(t, all, before+3)
	assert.Subset(t, all, []wire.Export{mfa("a", "fail", 0), mfa("m", "idle", 0), mfa("m", "plus", 2)})
	assert.True(t, slices.IsSortedFunc(all, func(a, b wire.Export) int { return wire.Compare(a, b) }), "%v", all)

	got, err := rpc.Apply(t.Context(), n, "m", "plus", []any{1, 2})
	require.NoError(t, err)
	assert.Equal(t, 3, got)
	_, err = rpc.Apply(t.Context(), n, "a", "fail", nil)
	assert.Same(t, errSpoiled, err)
	for _, args := range [][]any{nil, {1}, {1, 2, 3}} {
		_, err = rpc.Apply(t.Context(), n, "m", "plus", args)
		assert.ErrorIs(t, err, rpc.ErrUndef)
	}
	_, err = rpc.Apply(t.Context(), n, "m", "idle", nil)
	assert.ErrorIs(t, err, rpc.ErrUndef, "a behaviour is no function")
	_, err = rpc.NewActor(n, "a", "fail", nil)
	assert.ErrorIs(t, err, rpc.ErrUndef, "a function is no behaviour")
	b, err := rpc.NewActor(n, "m", "idle", nil)
	require.NoError(t, err)
	_, err = n.Spawn(b)
	require.NoError(t, err)
}

func TestExportsConcurrently(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	before := len(n.Inside(process.Key{}).Exports())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 100 {
				rpc.Export(n, mfa("m", "plus", j%10), plus)
				rpc.Apply(t.Context(), n, "m", "plus", []any{i, j})
				n.Inside(process.Key{}).Exports()
			}
		})
	}
	wg.Wait()
	assert.Len(t, n.Inside(process.Key{}).Exports(), before+10)
}

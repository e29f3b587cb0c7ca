//go:build linux && amd64 && !go1.27 && !actornode_portable && !actornode_no_box

package box

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Binaries around the length at which they stop sharing a block with their slice.
func TestLongBytes(t *testing.T) {
	for n := oneBytes - 3; n <= oneBytes+3; n++ {
		data := bytes.Repeat([]byte{byte(n)}, n)
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, cap(v.([]byte)))
	}
}

func TestOneAllocation(t *testing.T) {
	var v any
	for _, n := range []int{1, 64, oneBytes} {
		data := make([]byte, n)
		require.EqualValues(t, 1, testing.AllocsPerRun(100, func() { v = Bytes(data) }))
	}
	_ = v
}

func TestIntsAllocate(t *testing.T) {
	var x Ints
	slots := make([]any, 256)
	var few, many []byte
	for i := range int32(len(slots)) {
		few, many = appendTagged(few, 100*i), appendTagged(many, 1_000_000+i)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { clear(slots); x.Run(slots, few, tag, len(slots)) }))
	require.EqualValues(t, 2, testing.AllocsPerRun(100, func() { clear(slots); x.Run(slots, many, tag, len(slots)) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { clear(slots); FillBytes(slots, few[:256]) }))
}

// A block takes one allocation for all of its binaries, and they fill it.
func TestBlockAllocates(t *testing.T) {
	all, data := make([]any, 4), make([]byte, 64)
	var block Block
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		block = NewBlock(len(all) * SizeInBlock(len(data)))
		for i := range all {
			all[i] = block.Add(data)
		}
	}))
	require.Empty(t, block.free)
	require.Equal(t, [2]int{lowest, highest}, [2]int{least, most}, "as the tests of both have it")
}

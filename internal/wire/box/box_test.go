package box

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// The integers from lowest to highest need no allocation.
const (
	lowest  = -512
	highest = 1<<16 - 1
)

// A boxed value equals what a conversion would give, whatever its length, and stays so.
func TestBoxes(t *testing.T) {
	var all, want []any
	for n := range 200 {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(n + i)
		}
		v := Bytes(data)
		require.Equal(t, data, v)
		require.Equal(t, n, len(v.([]byte)))
		require.Equal(t, n, cap(v.([]byte)), "an append copies")
		all, want = append(all, v), append(want, append([]byte(nil), data...))
		clear(data)
	}
	runtime.GC()
	for i := range all {
		require.IsType(t, want[i], all[i])
		require.True(t, wire.Equal(want[i], all[i]))
	}
}

// The binaries of a block are slices like any other, of whatever length, each with the bytes that it was made of, as
// long as somebody holds one of them.
func TestBlock(t *testing.T) {
	var all, want []any
	for k := range 500 {
		var parts [][]byte
		size := 0
		for len(parts) < BlockMost {
			part := bytes.Repeat([]byte{byte(k + len(parts))}, (k*7+len(parts)*13)%100)
			if size+SizeInBlock(len(part)) > BlockSize {
				break
			}
			size += SizeInBlock(len(part))
			parts = append(parts, part)
		}
		block := NewBlock(size)
		for i, part := range parts {
			v := block.Add(part)
			require.Equal(t, len(part), cap(v.([]byte)), "an append copies")
			if i == k%len(parts) { // nobody holds the others
				all, want = append(all, v), append(want, bytes.Clone(part))
			}
			clear(part)
		}
		if k%50 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
	for i := range all {
		require.Equal(t, string(want[i].([]byte)), string(all[i].([]byte)))
	}
}

// Integers keep their values at the edges of the table and of its pages, and outlive the source they were made from.
func TestInts(t *testing.T) {
	var x Ints
	var all []any
	var want []int
	for _, at := range []int{math.MinInt, math.MinInt32, lowest, -256, -1, 0, 255, 256, 511, 512, 1 << 12, highest, math.MaxInt32, math.MaxInt} {
		for d := -2; d <= 2; d++ {
			for range 30 {
				var v any
				x.Put(&v, at+d, 4)
				all, want = append(all, v), append(want, at+d)
			}
		}
	}
	runtime.GC()
	for i := range all {
		require.Equal(t, want[i], all[i])
	}
}

const tag = 98

func appendTagged(b []byte, n int32) []byte {
	return binary.BigEndian.AppendUint32(append(b, tag), uint32(n))
}

// A run ends where the slots, the bytes or the tags do, and has the integers that decoding one at a time would give.
func TestRun(t *testing.T) {
	var x Ints
	r := testkit.Rand(t)
	for range 2000 {
		var b []byte
		var want []any
		spread := int32(1) << (1 + r.IntN(30))
		for range r.IntN(300) {
			n := r.Int32N(spread) - spread/3
			if r.IntN(20) == 0 {
				n = r.Int32() * -1
			}
			b, want = appendTagged(b, n), append(want, int(n))
		}
		whole := len(want)
		switch r.IntN(3) {
		case 0:
			b = append(b, tag, 0, 0, 0) // cut off
		case 1:
			b = append(b, tag+1, 0, 0, 0, 0)
		}
		slots := make([]any, r.IntN(whole+10))
		n := x.Run(slots, b, tag, 1+r.IntN(400))
		require.Equal(t, min(whole, len(slots)), n)
		require.Equal(t, append([]any{}, want[:n]...), slots[:n])
		for _, v := range slots[n:] {
			require.Nil(t, v)
		}
	}
	require.Zero(t, x.Run(make([]any, 3), nil, tag, 3))
}

func TestFillBytes(t *testing.T) {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	slots := make([]any, len(b))
	FillBytes(slots, b)
	for i, v := range slots {
		require.Equal(t, i, v)
	}
	FillBytes(nil, nil)
}

// Many goroutines write the table at once, each as far as it needs it.
func TestManyFill(t *testing.T) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			var x Ints
			for range 2000 {
				n := r.IntN(highest-lowest+1) + lowest
				var v any
				x.Put(&v, n, 1)
				slots := make([]any, 1)
				assert.Equal(t, 1, x.Run(slots, appendTagged(nil, int32(n)), tag, 1))
				if v != n || slots[0] != n {
					t.Errorf("%d is %v and %v", n, v, slots[0])
				}
			}
		})
	}
	all.Wait()
}

// While the collector works, slots that only the heap knows keep their integers, and binaries, which it does not scan,
// keep their bytes.
func TestCollected(t *testing.T) {
	var x Ints
	var kept [][]any
	var b []byte
	for i := range int32(500) {
		b = appendTagged(b, i*997)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30 {
			runtime.GC()
		}
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		slots := make([]any, 501)
		require.Equal(t, 500, x.Run(slots, b, tag, 500))
		slots[500] = Bytes(b[:1+len(kept)%1200])
		if kept = append(kept, slots); len(kept) > 2000 {
			kept = kept[1000:]
		}
	}
	runtime.GC()
	for _, slots := range kept {
		for i := range 500 {
			require.Equal(t, i*997, slots[i])
		}
		data := slots[500].([]byte)
		require.Equal(t, b[:len(data)], data)
	}
}

// The number of a type is where Go keeps it, so each type has one.
func TestTypeOf(t *testing.T) {
	type named int
	values := []any{1, int8(1), named(1), "a", []byte{1}, wire.Tuple{}, wire.List{}, struct{}{}, &struct{ a int }{}, errors.New("a")}
	for _, v := range values {
		require.Equal(t, reflect.ValueOf(reflect.TypeOf(v)).Pointer(), TypeOf(v), "%T", v)
		for _, w := range values {
			require.Equal(t, reflect.TypeOf(v) == reflect.TypeOf(w), TypeOf(v) == TypeOf(w), "%T, %T", v, w)
		}
	}
	require.Zero(t, TypeOf(nil))
}

package deepcopy_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/deepcopy"
)

// Values like those in messages. The copy benchmark of ./bench has similar ones.
type (
	flatOrder struct {
		ID, Count, Price int
		Name, Street     string
	}
	line struct {
		Name  string
		Count int
		Price int
	}
	order struct {
		ID    int
		Name  string
		Lines []line
		Notes map[string]string
	}
	branch struct {
		Key         int
		Text        string
		Left, Right *branch
	}
)

func (o *flatOrder) byHand() *flatOrder {
	now := *o
	return &now
}

func (o *order) byHand() *order {
	now := *o
	now.Lines, now.Notes = slices.Clone(o.Lines), maps.Clone(o.Notes)
	return &now
}

func (b *branch) byHand() *branch {
	if b == nil {
		return nil
	}
	now := *b
	now.Left, now.Right = b.Left.byHand(), b.Right.byHand()
	return &now
}

func newBranch(depth int) *branch {
	if depth == 0 {
		return nil
	}
	return &branch{Key: depth, Text: "text", Left: newBranch(depth - 1), Right: newBranch(depth - 1)}
}

// BenchmarkCopy copies values by plan, and with code written for the one type.
func BenchmarkCopy(b *testing.B) {
	flat := &flatOrder{ID: 1, Count: 2, Price: 3, Name: "tea", Street: "Main Street"}
	full := &order{ID: 1, Name: "a", Lines: make([]line, 10), Notes: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}}
	tree := newBranch(7) // 127 nodes
	for _, c := range []struct {
		name   string
		v      any
		byHand func() any
	}{
		{"flat", flat, func() any { return flat.byHand() }},
		{"slice and map", full, func() any { return full.byHand() }},
		{"tree", tree, func() any { return tree.byHand() }},
	} {
		got, err := deepcopy.Copy(c.v)
		require.NoError(b, err)
		require.Equal(b, c.byHand(), got)
		b.Run(c.name+"/plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := deepcopy.Copy(c.v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/hand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.byHand()
			}
		})
	}
}

package mailbox

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type pair struct {
	a int64
	b string
}

type chain struct{ next *chain }

func TestSize(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the sizes below are those of 64-bit words")
	}
	text := "0123456789"
	deep := &chain{}
	for range 100 {
		deep = &chain{deep}
	}
	loop := &chain{}
	loop.next = loop
	for _, c := range []struct {
		name string
		msg  any
		want int
	}{
		{"nil", nil, 0},
		{"int", 7, 8},
		{"bool", true, 1},
		{"complex128", complex(1, 2), 16},
		{"string", text, 16 + 10},
		{"bytes", []byte(text), 24 + 10},
		{"no bytes", []byte(nil), 24},
		{"named string", time.Month(3).String(), 16 + 5},
		{"slice of plain", []int32{1, 2, 3}, 24 + 3*4},
		{"slice of strings", []string{text, ""}, 24 + (16 + 10) + 16},
		{"slice of any", []any{int64(1), text}, 24 + (16 + 8) + (16 + 16 + 10)},
		{"slice of nil", []any{nil}, 24 + 16},
		{"array", [2]string{text, text}, 2 * (16 + 10)},
		{"struct", pair{1, text}, 8 + 16 + 10},
		{"pointer", &pair{1, text}, 8 + 8 + 16 + 10},
		{"nil pointer", (*pair)(nil), 8},
		{"pointer in a struct", struct{ p *int64 }{new(int64)}, 8 + 8},
		{"map", map[string]int64{text: 1, "": 2}, 8 + (16 + 10 + 8) + (16 + 8)},
		{"nil map", map[string]int{}, 8},
		{"channel", make(chan int, 9), 8},
		{"function", func() {}, 8},
		{"depth is bounded", deep, 8 * (sizeDepth + 1)},
		{"a loop ends", loop, 8 * (sizeDepth + 1)},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Size(c.msg)) })
	}
}

// The cost of Bounds.Bytes for a message that is a small struct. Reflection, field by field, bounds it; a byte slice or
// string is a type switch.
func BenchmarkSize(b *testing.B) {
	msg := any(pair{1, "text"})
	b.ReportAllocs()
	for b.Loop() {
		Size(msg)
	}
}

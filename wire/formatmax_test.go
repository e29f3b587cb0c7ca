package wire

import (
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// A text that fits equals the result of Format; one that does not is its beginning.
func TestFormatMaxIsTheBeginning(t *testing.T) {
	g := newGen(t)
	for range 5000 {
		term := g.term(4)
		plain, pretty := plainly(term), Format(term)
		require.Equal(t, pretty, Formatter{Max: len(pretty)}.Format(term))
		max := g.IntN(len(plain) + 2)
		got, _ := Formatter{Plain: true}.cutAfter(term, max)
		if max >= len(plain) {
			require.Equal(t, plain, got)
			continue
		}
		end := strings.LastIndex(got, "…")
		require.GreaterOrEqual(t, end, 0, "%q of %q", got, plain)
		head := got[:end]
		require.True(t, strings.HasPrefix(plain, head), "%q of %q", got, plain)
		require.InDelta(t, max, len(head), utf8.UTFMax-1)
		require.LessOrEqual(t, len(head), max)
	}
}

func TestFormatMaxSaysWhatIsLeftOut(t *testing.T) {
	long := make(List, 100_000)
	for i := range long {
		long[i] = 7
	}
	wide := MakeMap(1000)
	for i := range 1000 {
		wide.Put(i, Atom("x"))
	}
	for _, c := range []struct {
		term any
		want string // the end of the text
	}{
		{make([]byte, 60<<20), "<<0,0,0,0,0,0,0,0,0,… (62914560 bytes in all)"},
		{strings.Repeat("ж", 1000), `<<"жжжжжжжж… (2000 bytes in all)`},
		{Tuple{Atom("add"), make([]byte, 5000)}, "{add,<<0,0,0,0,0,0,0… (5000 bytes in all)"},
		{long, "[7,7,7,7,7,7,7,7,7,7… (100000 elements in all)"},
		{Charlist(strings.Repeat("a", 5000)), `"aaaaaaaaaaaaaaaaaaa… (5000 bytes in all)`},
		{Atom(strings.Repeat("a", 5000)), "aaaaaaaaaaaaaaaaaaaa…"},
		{new(big.Int).Lsh(big.NewInt(1), 1<<26), "#Integer<67108865 bi…"},
	} {
		require.Equal(t, c.want, Formatter{Max: 20}.Format(c.term))
	}
	require.Contains(t, Formatter{Max: 20}.Format(wide), "… (1000 pairs in all)")
	require.Equal(t, "#Integer<67108865 bits>", Formatter{Max: 1024}.Format(new(big.Int).Lsh(big.NewInt(1), 1<<26)))
}

// Leaving out a part of an atom does not change whether it is quoted.
func TestFormatMaxQuotesAsFormat(t *testing.T) {
	require.Equal(t, "{'',{0,'a…", Formatter{Max: 9}.Format(Tuple{Atom(""), Tuple{0, Atom("aaaÁaj]")}})[:len("{'',{0,'a…")])
	require.Equal(t, "rec…", Formatter{Max: 3}.Format(Atom("receiver_x")), "the part that is looked at is a reserved word")
}

// A text of a kilobyte takes kilobytes of memory, whatever it is the beginning of.
func TestFormatMaxIsCheap(t *testing.T) {
	deep := any(List{})
	for range 1 << 20 {
		deep = Tuple{deep}
	}
	long := make(List, 1<<22)
	for i := range long {
		long[i] = 'a'
	}
	wide := MakeMap(1 << 16)
	for i := range 1 << 16 {
		wide.Put(i, i)
	}
	type own struct {
		Bytes []byte
		List  List
	}
	for name, v := range map[string]any{
		"binary": make([]byte, 60<<20), "text": strings.Repeat("a", 60<<20), "bits": NewBitstring(make([]byte, 1<<20), 8<<20-3),
		"list": long, "map": wide, "deep": deep, "integer": new(big.Int).Lsh(big.NewInt(1), 1<<28),
		"Go": own{make([]byte, 60<<20), long}, "pointer": &own{nil, long}, "Go slice": make([]int, 1<<22),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []func(){
				func() { Formatter{Max: 1 << 10}.Format(v) }, func() { Formatter{Plain: true, Max: 1 << 10}.Format(Tuple{v}) },
				func() { DescribeAll(v, 1<<10) }, func() { DescribeAll([]any{v}, 1<<10) },
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				f()
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<10))
			}
		})
	}
}

type talks struct{ text string }

func (s talks) String() string { return s.text }

// A text that fits equals what fmt prints.
func TestDescribeAll(t *testing.T) {
	type inner struct {
		A int
		b any
		T Tuple
		E error
	}
	var none *inner
	for _, v := range []any{
		nil, 1, 1.5, "text", Atom("a b"), true, []byte{1, 2}, []int{1, 2}, [2]bool{true}, map[string]int{"b": 2, "a": 1}, none, &inner{},
		inner{1, Tuple{Atom("x"), "y"}, Tuple{1, List{2}}, errors.New("no")}, []any{nil, Tuple{1}, &inner{}}, talks{"hi"},
		errors.New("boom"), Tuple{1}, List{Atom("a")}, NewMap(1, 2), []error{errors.New("x")}, struct{}{}, time.Second,
	} {
		require.Equal(t, fmt.Sprintf("%+v", v), DescribeAll(v, 1<<10))
	}
	require.Equal(t, "hello… (11 bytes in all)", DescribeAll("hello world", 5))
	require.Equal(t, "hello…", DescribeAll(talks{"hello world"}, 5))
	require.Equal(t, "[1 2 3…", DescribeAll([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, 6))
	require.Equal(t, "{A:0 b…", DescribeAll(inner{}, 6))
	loop := []any{1, nil}
	loop[1] = loop
	require.Equal(t, "[1 [1 [1 [1…", DescribeAll(loop, 11))
}

func TestFormatForeign(t *testing.T) {
	show := func(v any) any { return Tuple{Atom("go"), fmt.Sprint(v)} }
	require.Equal(t, `{1,{go,<<"{2}">>}}`, Formatter{Max: 100, Foreign: show}.Format(Tuple{1, struct{ x int }{2}}))
	again := func(v any) any { return Tuple{v} }
	require.Equal(t, "{{{{{…", Formatter{Max: 5, Foreign: again}.Format(struct{}{}), "one that never ends")
}

// holder contains a term that may contain the holder.
type holder struct {
	Name string
	T    Tuple
	Any  any
}

// For Go values and terms that contain one another, the time does not grow with each level.
func TestDescribeAllTermsInGo(t *testing.T) {
	loop := &holder{Name: "x"}
	loop.T = Tuple{loop}
	var deep any = 1
	for range 1000 {
		deep = holder{Name: "y", T: Tuple{deep}}
	}
	for _, v := range []any{loop, deep, Tuple{loop}, Tuple{deep}} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			require.LessOrEqual(t, len(Formatter{Max: 1 << 10}.Format(v)), 1<<10+40)
			require.LessOrEqual(t, len(DescribeAll(v, 1<<10)), 1<<10+40)
		}()
		select {
		case <-done:
		case <-time.After(testkit.Limit):
			t.Fatal("it does not end")
		}
	}
}

// A nil interface within a cut value looks as fmt prints it.
func TestDescribeAllCutNil(t *testing.T) {
	require.Equal(t, "{N:x T:[] A:<nil>…", DescribeAll(struct {
		N    string
		T    []int
		A, B any
	}{N: "x", B: make([]int, 100)}, 17))
}

package node_test

import (
	"bytes"
	"io"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

type (
	nearOrder struct {
		Item    string
		Count   int
		Price   float64
		Express bool
		Key     []byte
		At      time.Time
		To      nearAddress
		Lines   []nearLine
		Gift    *nearLine
		Tags    map[string]int64
		Wait    time.Duration
		Colour  nearColour
		Small   uint8
	}
	nearAddress struct {
		Street string
		Number int32
	}
	nearLine    struct{ Text string }
	nearReceipt struct {
		Item  string
		Count int
		Total float64
	}
	// nearJob holds a From.
	nearJob struct {
		Number int
		For    node.From
	}
	nearColour int8
	nearNames  []string
	// nearTree refers to itself.
	nearTree struct {
		Value       any
		Left, Right *nearTree
	}
)

const (
	nearRed nearColour = 1 + iota
	nearGreen
)

// nearFarRegistered is what all nodes of TestNearAndFar have registered.
var nearFarRegistered = []node.Type{
	node.TypeOf[nearOrder]("near.Order"), node.TypeOf[nearAddress]("near.Address"), node.TypeOf[nearLine]("near.Line"),
	node.TypeOf[nearReceipt]("near.Receipt"), node.TypeOf[nearJob]("near.Job"), node.TypeOf[nearColour]("near.Colour"),
	node.TypeOf[nearNames]("near.Names"), node.TypeOf[nearTree]("near.Tree"), node.TypeOf[nearGraph]("near.Graph"), node.TypeOf[nearTrouble]("near.Trouble"), node.TypeOf[nearLimitError]("near.LimitError"),
	node.TypeOf[nearFail]("near.Fail"), node.TypeOf[nearPay]("near.Pay"), node.TypeOf[nearKnock]("near.Knock"),
	node.TypeOf[nearDigit]("near.Digit"), node.TypeOf[nearAlarm]("near.Alarm"), node.TypeOf[nearLater]("near.Later"),
	node.ErrorOf(errNearSoldOut), node.ErrorOf(errNearNoCard), node.ErrorOf(io.EOF), node.ErrorOf(node.ErrTimeout),
}

func newNearOrder(count int) nearOrder {
	return nearOrder{
		Item: "three-inch nails", Count: count, Price: 2.5, Express: true, Key: []byte("0123456789abcdef"),
		At: time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC), To: nearAddress{"Long Acre", 14},
		Lines: []nearLine{{"first"}, {"second"}}, Gift: &nearLine{"with love"}, Tags: map[string]int64{"a": 1 << 60},
		Wait: time.Minute, Colour: nearGreen, Small: 255,
	}
}

// crossing is the program of values that are shown there, and come back.
func crossing(name string, values ...any) program {
	return program{"a value that is " + name, func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), wire.Tuple{show(t[1]), t[1]})
		}))
		for _, v := range values {
			w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), v}))
			t := w.next().(wire.Tuple)
			w.say("there %s", t[0])
			w.say("here  %s", show(t[1]))
		}
	}}
}

var valuePrograms = []program{
	crossing("an integer", 0, -1, 1<<30, math.MaxInt, math.MinInt),
	crossing("a sized integer", int8(-8), int16(-16), int32(-32), int64(-64), uint(1), uint8(8), uint16(16), uint32(32),
		uint64(math.MaxUint64)),
	crossing("a big integer", new(big.Int).Lsh(big.NewInt(1), 200)),
	crossing("a float", 1.5, math.MaxFloat64, float32(0.25), math.Copysign(0, -1)),
	crossing("a boolean", true, false),
	crossing("a string", "", "tea", strings.Repeat("ж", 70_000)),
	crossing("bytes", []byte{}, []byte("tea"), bytes.Repeat([]byte{255}, 300_000)),
	crossing("an atom", node.Atom("tea"), node.Atom("ж"), node.Atom("true")),
	crossing("nil", nil),
	crossing("a tuple", wire.Tuple{}, wire.Tuple{node.Atom("a"), wire.Tuple{1, "b"}}),
	crossing("a list", wire.List{}, wire.List{1, "b", wire.List{nil}}),
	crossing("a slice", []int{}, []int{1, 2}, []string{"a"}, []float64{1}, []int64{1}, [][]int{{1}, nil}, []any{1, "a", nil}),
	crossing("a map", map[string]int{"a": 1}, map[string]string{}, map[string]any{"a": []int{1}, "b": nil}, map[int]string{1: "a"}),
	crossing("a time", time.Date(2024, 2, 29, 12, 30, 0, 123456789, time.UTC), time.Time{}),
	crossing("a duration", time.Second, time.Duration(-1)),
	crossing("a struct", newNearOrder(1), nearOrder{}),
	crossing("a pointer to a struct", new(newNearOrder(2)), &nearReceipt{}),
	crossing("a nil pointer", (*nearOrder)(nil)),
	crossing("a slice of structs", []nearReceipt{{"a", 1, 2}, {}}, []*nearReceipt{{"b", 1, 2}, nil}),
	crossing("a map of structs", map[string]nearReceipt{"a": {"a", 1, 2}}, map[string]*nearLine{"b": {"b"}, "c": nil}),
	crossing("of a named type", nearGreen, nearNames{"a", "b"}, []nearColour{nearRed, nearGreen}),
	crossing("a tree", nearTree{"root", &nearTree{Value: 1}, &nearTree{"right", &nearTree{Value: nearRed}, nil}}),
	crossing("of all sorts", wire.Tuple{node.Atom("order"), newNearOrder(1), wire.List{int64(1), []int{2}, nearReceipt{}}, map[string]any{
		"o": nearReceipt{"x", 1, 1}}}),
	{"a slice that is sent three times", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			l := msg.(wire.List)
			a, b := l[0].([]int), l[2].([]int)
			return c.Send(me, len(a)+len(b))
		}))
		s := make([]int, 10_000)
		w.check(w.me.Send(pid, wire.List{s, s, s}))
		w.say("%s", show(w.next()))
	}},
	{"a value that is nested deeply", func(w *world) {
		depth := func(v any) (n int) {
			for l, ok := v.(wire.List); ok && len(l) > 0; l, ok = l[0].(wire.List) {
				n++
			}
			return n
		}
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(me, depth(msg)) }))
		l := wire.List{}
		for range 200 {
			l = wire.List{l}
		}
		w.check(w.me.Send(pid, l))
		w.say("%s", show(w.next()))
	}},
}

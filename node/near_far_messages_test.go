package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

var messagePrograms = []program{
	{"a call whose From is none", func(w *world) {
		me := w.me.Self()
		calls := []any{wire.Tuple{node.Atom("$gen_call"), 7, "first"},
			wire.Tuple{node.Atom("$gen_call"), wire.Tuple{me, 1, 2}, "second"},
			wire.Tuple{node.Atom("$gen_call"), node.Atom("nobody")}}
		server := genserver.Define(
			genserver.OnCall(func(*nearRack, *genserver.Context, nearTake) (int, error) { return 5, nil }),
			genserver.OnInfo(func(_ *nearRack, c *genserver.Context, m wire.Tuple) error {
				return c.Send(me, fmt.Sprintf("%T %d", m, len(m)))
			}))
		for _, b := range []node.Actor{shower(me), server.New(&nearRack{})} {
			pid := w.serve(b)
			for _, call := range calls {
				w.check(w.me.Send(pid, call))
				w.say("%.10s", w.next())
			}
		}
	}},
	{"messages in order", func(w *world) {
		me := w.me.Self()
		pid := w.startProcess(func(p *node.Process) error {
			for i := range 2000 {
				if got := node.ReceiveOf[int](p); got != i {
					return p.Send(me, fmt.Sprintf("%d came when it was %d's turn", got, i))
				}
			}
			return p.Send(me, "all in order")
		})
		for i := range 2000 {
			w.check(w.me.Send(pid, i))
		}
		w.say("%s", show(w.next()))
	}},
	{"messages both ways", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			t := msg.(wire.Tuple)
			return c.Send(t[0].(node.PID), t[1].(int)+1)
		}))
		n := 0
		for range 50 {
			w.check(w.me.Send(pid, wire.Tuple{w.me.Self(), n}))
			n = w.next().(int)
		}
		w.say("%d", n)
	}},
	{"a message behind a long one", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			if b, ok := msg.([]byte); ok {
				return c.Send(me, len(b))
			}
			return c.Send(me, msg)
		}))
		w.check(w.me.Send(pid, make([]byte, 1<<20)))
		w.check(w.me.Send(pid, "behind"))
		w.say("%s", show(w.next()))
		w.say("%s", show(w.next()))
	}},
	{"messages and then the end", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			for i := range 100 {
				c.Send(me, i)
			}
			return node.ErrStop
		}))
		w.me.Link(pid)
		w.check(w.me.Send(pid, "go"))
		sum := 0
		for m := w.next(); ; m = w.next() {
			if e, ok := m.(node.Exited); ok {
				w.say("%d, %s", sum, show(e.Reason))
				return
			}
			sum += m.(int)
		}
	}},
	{"a message to a name", func(w *world) {
		at := w.named("near_shower", shower(w.me.Self()))
		w.check(w.me.Send(at, 7))
		w.say("%s", show(w.next()))
	}},
	{"a message to an alias", func(w *world) {
		me := w.me.Self()
		aliases := make(chan node.Ref, 2)
		w.startProcess(func(p *node.Process) error {
			aliases <- p.Alias()
			aliases <- p.AliasOnce()
			for {
				p.Send(me, show(p.Receive()))
			}
		})
		ref, once := hand(w, w.there, testkit.Receive(w.t, aliases)), hand(w, w.there, testkit.Receive(w.t, aliases))
		w.check(w.me.Send(ref, 1))
		w.check(w.me.Send(once, 2))
		w.me.Send(once, "lost")
		w.check(w.me.Send(ref, 3))
		for range 3 {
			w.say("%s", show(w.next()))
		}
	}},
	{"an alias in a message", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(msg.(node.Ref), "for the alias") }))
		alias := w.me.AliasOnce()
		w.check(w.me.Send(pid, alias))
		w.say("%s", show(w.next()))
		w.check(w.me.Send(pid, alias))
		w.there.Exit(pid, node.Kill)
		_, err := node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.check(w.me.Send(w.me.Self(), "last"))
		w.say("%s", show(w.next()))
	}},
	{"a message that is delivered", func(w *world) {
		pid := w.start(shower(w.me.Self()))
		err := node.Deliver(w.ctx, w.me, pid, 1)
		if w.say("%v", err); err != nil {
			return
		}
		w.say("%s", show(w.next()))
		w.there.Exit(pid, node.Kill)
		_, err = node.AwaitExit(w.ctx, w.me, pid)
		w.check(err)
		w.say("%v", node.Deliver(w.ctx, w.me, pid, 1))
		err = node.Deliver(w.ctx, w.me, node.At{Name: "near_nobody", Node: w.there.Name()}, 1)
		w.say("no name %v", errors.Is(err, node.ErrNoName))
	}},
	{"a timer for another process", func(w *world) {
		timer, err := w.me.SendAfter(time.Hour, w.start(shower(w.me.Self())), 7)
		w.check(err)
		_, ok := timer.Cancel()
		w.say("under way %v", ok)
		_, err = w.me.SendAfter(0, w.start(shower(w.me.Self())), 8)
		w.check(err)
		w.say("%s", show(w.next()))
		_, err = w.me.SendAfter(0, w.named("near_timed", shower(w.me.Self())), 9)
		w.check(err)
		w.say("%s", show(w.next()))
	}},
	{"bytes", func(w *world) {
		pid := w.start(shower(w.me.Self()))
		b := []byte("mine")
		w.check(w.me.SendBytes(pid, b))
		copy(b, "gone")
		w.say("%s", show(w.next()))
	}},
	{"casts", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			switch m := msg.(type) {
			case node.Cast[int]:
				return c.Send(me, show(m.Body))
			case node.Cast[nearOrder]:
				return c.Send(me, show(m.Body))
			}
			return c.Send(me, fmt.Sprintf("a %T", msg))
		}))
		w.check(w.me.Send(pid, node.Cast[int]{Body: 3}))
		w.check(w.me.Send(pid, node.Cast[nearOrder]{Body: newNearOrder(1)}))
		w.say("%s", show(w.next()))
		w.say("%s", show(w.next()))
	}},
	{"a sender and its receiver know each other", func(w *world) {
		me := w.me.Self()
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			return c.Send(me, wire.Tuple{c.Self(), msg.(node.PID) == me})
		}))
		w.check(w.me.Send(pid, me))
		t := w.next().(wire.Tuple)
		w.say("%v %v", t[0] == pid, t[1])
	}},
	{"a stream with answers", func(w *world) {
		pid := w.start(node.ActorFunc(func(c *node.Context, msg any) error {
			for i := range msg.(node.Request[int]).Body {
				if err := c.Send(msg.(node.Request[int]).Caller(), i); err != nil {
					return err
				}
			}
			return c.Reply(msg.(node.Request[int]).From, "done")
		}))
		r, err := node.Call[string](w.ctx, w.me, pid, 300)
		w.answer(r, err)
		sum := 0
		for range 300 {
			sum += w.next().(int)
		}
		w.say("%d", sum)
	}},
}

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

// nearFarRegistered are the types that all nodes of TestNearAndFar have registered.
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

// crossing is the program for values that are shown there, and come back.
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

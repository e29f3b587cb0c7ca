package isolation_test

import (
	"container/list"
	"io"
	"log/slog"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// found collects what a node reports.
type found struct {
	mu  sync.Mutex
	all []isolation.Change
}

func (f *found) report(c isolation.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, c)
}

// take returns what has been reported since the last take.
func (f *found) take() []isolation.Change {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.all
	f.all = nil
	return all
}

func checked(t *testing.T) (*node.Node, *found) {
	f := new(found)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	return nodetest.Start(t, node.Config{Isolation: isolation.Config{Check: true, Report: f.report}, Log: quiet}), f
}

type (
	line struct {
		Name  string
		Count int
		tags  []string
	}
	cart struct {
		Lines  []*line
		Notes  map[string]string
		ByID   map[int]*line
		Any    any
		First  *line
		Grid   [2][]int
		hidden *int
		Self   *cart
		Late   *line // nil when the message is sent
		When   time.Time
		Inner  struct{ Deep struct{ Value *float64 } }
		Values []line
		Raw    []byte
		Flag   *bool
		Err    error
		Lock   *guardedBy
		Same   isolation.Shared[[]int]
		Free   []int `isolation:"share"`
	}
	guardedBy struct {
		mu sync.Mutex
		n  int
	}
)

func newCart() *cart {
	one, f, yes := 1, 2.5, true
	l := &line{Name: "tea", Count: 1, tags: []string{"a", "b"}}
	c := &cart{Lines: []*line{l, {Name: "milk"}}, Notes: map[string]string{"k": "v"}, ByID: map[int]*line{7: l},
		Any: []any{1, &line{}}, First: l,
		Grid: [2][]int{{1}, {2, 3}}, hidden: &one, When: time.Unix(1, 0), Values: []line{{Name: "x"}},
		Raw:  []byte("abc"),
		Flag: &yes, Err: io.EOF, Lock: &guardedBy{}, Same: isolation.Share([]int{1}), Free: []int{1}}
	c.Self = c
	c.Inner.Deep.Value = &f
	return c
}

// Misuses: the check finds what is changed after the send, with its path.
var misuses = []struct {
	path   string
	change func(*cart)
}{
	{".Lines[1].Name", func(c *cart) { c.Lines[1].Name = "honey" }},
	{".Lines[0].Count", func(c *cart) { c.Lines[0].Count++ }},
	{".Lines[0].tags[1]", func(c *cart) { c.Lines[0].tags[1] = "c" }},
	{".Lines[0].tags", func(c *cart) { c.Lines[0].tags = append(c.Lines[0].tags, "c") }},
	{".Lines", func(c *cart) { c.Lines = append(c.Lines, &line{}) }},
	{".Lines", func(c *cart) { c.Lines = nil }},
	{".Lines[1]", func(c *cart) { c.Lines[1] = &line{Name: "milk"} }},
	{".Lines[1]", func(c *cart) { c.Lines[1] = nil }},
	{`.Notes["k"]`, func(c *cart) { c.Notes["k"] = "w" }},
	{`.Notes["k"]`, func(c *cart) { delete(c.Notes, "k") }},
	{".Notes", func(c *cart) { c.Notes["new"] = "" }},
	{".Notes", func(c *cart) { c.Notes = map[string]string{"k": "v"} }},
	{".ByID[7]", func(c *cart) { c.ByID[7] = &line{} }},
	{".Any[0]", func(c *cart) { c.Any.([]any)[0] = 1000 }},
	{".Any[1].Count", func(c *cart) { c.Any.([]any)[1].(*line).Count = 2 }},
	{".Any", func(c *cart) { c.Any = "text" }},
	{".Any", func(c *cart) { c.Any = nil }},
	{".First", func(c *cart) { c.First = nil }},
	{".Grid[1][0]", func(c *cart) { c.Grid[1][0] = 9 }},
	{".hidden", func(c *cart) { *c.hidden = 5 }},
	{".Self", func(c *cart) { c.Self = nil }},
	{".Late", func(c *cart) { c.Late = &line{} }},
	{".When", func(c *cart) { c.When = c.When.Add(time.Hour) }},
	{".Inner.Deep.Value", func(c *cart) { *c.Inner.Deep.Value = 0 }},
	{".Values[0].Name", func(c *cart) { c.Values[0].Name = "y" }},
	{".Raw[2]", func(c *cart) { c.Raw[2] = 'z' }},
	{".Flag", func(c *cart) { *c.Flag = false }},
	{".Err", func(c *cart) { c.Err = nil }},
	{".Lock", func(c *cart) { c.Lock = nil }},
}

// No misuses: what is shared by its kind may be changed.
var uses = []func(*cart){
	func(*cart) {},
	func(c *cart) { c.Lock.mu.Lock(); c.Lock.n++; c.Lock.mu.Unlock() },
	func(c *cart) { c.Free[0] = 2 },
}

func TestMisuses(t *testing.T) {
	n, f := checked(t)
	h, from := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	for _, m := range misuses {
		c := newCart()
		require.NoError(t, from.Send(h.Self(), c))
		m.change(c)
		require.Same(t, c, nodetest.Expect[*cart](h))
		all := f.take()
		require.Len(t, all, 1, m.path)
		require.Equal(t, m.path, all[0].Path)
		require.Equal(t, from.Self(), all[0].From)
		require.Equal(t, h.Self(), all[0].To)
		require.Equal(t, "*isolation_test.cart", all[0].Type)
		require.Contains(t, all[0].String(), "was changed after it was sent: "+m.path)
		c.Lines = []*line{{}} // these belong to the receiver now
		require.NoError(t, from.Send(h.Self(), 1))
		require.Equal(t, 1, nodetest.Expect[int](h))
		require.Empty(t, f.take())
	}
	// A process may send to itself what it goes on to use.
	own := newCart()
	require.NoError(t, from.Send(from.Self(), own))
	own.Lines = nil
	nodetest.Expect[*cart](from)
	require.Empty(t, f.take())
	for _, use := range uses {
		c := newCart()
		require.NoError(t, from.Send(h.Self(), c))
		use(c)
		nodetest.Expect[*cart](h)
		require.Empty(t, f.take())
	}
	require.GreaterOrEqual(t, len(misuses), 25)
}

// Other kinds of values than structs.
func TestMisusesOfOtherValues(t *testing.T) {
	n, f := checked(t)
	h := nodetest.NewProbe(t, n)
	num, m, l := big.NewInt(3), map[string]int{"a": 1}, list.New()
	tuple, wm := wire.Tuple{1, []byte("x")}, wire.NewMap("k", []byte("v"))
	l.PushBack(1)
	one := 1
	for _, c := range []struct {
		msg    any
		change func()
		path   string
	}{
		{&one, func() { one = 2 }, ""},
		{num, func() { num.SetInt64(4) }, ".abs[0]"},
		{m, func() { m["a"] = 2 }, `["a"]`},
		{l, func() { l.Front().Value = 2 }, ".root.next.Value"},
		{tuple, func() { tuple[1].([]byte)[0] = 'y' }, "[1][0]"},
		{wm, func() { wm.Put("k", 1) }, ".body.pairs[0].Value"},
		{[]any{m}, func() { delete(m, "a") }, `[0]["a"]`},
	} {
		require.NoError(t, n.Send(h.Self(), c.msg))
		c.change()
		h.Receive()
		all := f.take()
		require.Len(t, all, 1, "%T", c.msg)
		require.Equal(t, c.path, all[0].Path, "%T", c.msg)
	}
}

// The check watches every way to send, to every style of receiver.
func TestWaysToSend(t *testing.T) {
	n, f := checked(t)
	ctx := testkit.Context(t)
	h := nodetest.NewProbe(t, n)
	gate := make(chan struct{})
	blocked := func(pid node.PID) { require.NoError(t, n.Send(pid, gate)) }
	handled := make(chan any, 10)
	handle := func(_ actortest.Self, msg any) error {
		switch m := msg.(type) {
		case chan struct{}:
			<-m
			return nil
		case node.Request[*line]:
			reply := &line{Name: "reply"}
			_ = m.Reply(reply)
			//actornode:ignore aftersend the report of this is tested
			reply.Name = "changed"
		}
		handled <- msg
		return nil
	}
	for _, s := range actortest.Styles() {
		pid := s.Spawn(t, n, handle)
		for name, send := range map[string]func(*line) error{
			"Send":      func(l *line) error { return n.Send(pid, l) },
			"SendOpt":   func(l *line) error { return n.SendOpt(node.SendOptions{NoWait: true}, pid, l) },
			"Deliver":   func(l *line) error { return node.Deliver(ctx, n, pid, l) },
			"cast":      func(l *line) error { return n.Send(pid, node.Cast[*line]{Body: l}) },
			"request":   func(l *line) error { node.SendRequest(h, pid, "tag", l); return nil },
			"SendAfter": func(l *line) error { _, err := h.SendAfter(time.Millisecond, pid, l); return err },
		} {
			if testkit.Race && name == "SendAfter" {
				continue // the race detector would find the misuse: a timer reads what is written
			}
			blocked(pid)
			l := &line{}
			require.NoError(t, send(l))
			l.Count = 1
			gate <- struct{}{}
			<-handled
			if name == "request" {
				h.Receive()
			}
			all := f.take()
			require.NotEmpty(t, all, name)
			require.Contains(t, all[0].Path, ".Count", name)
		}
	}
	_, err := n.SendAfter(time.Hour, actortest.Actor.Spawn(t, n, handle), &line{})
	require.NoError(t, err)

	object := &counterObject{}
	ref, err := active.Start(n, object, node.Options{})
	require.NoError(t, err)
	first := active.Go(n, ref, (*counterObject).Wait, gate)
	l := &line{}
	second := active.Go(n, ref, (*counterObject).Take, l)
	//actornode:ignore aftersend the report of this is tested
	l.Count = 1
	gate <- struct{}{}
	_, err = node.Await(ctx, n, first)
	require.NoError(t, err)
	_, err = node.Await(ctx, n, second)
	require.NoError(t, err)
	all := f.take()
	require.Len(t, all, 1)
	require.Equal(t, ".Body.arg.Count", all[0].Path)
}

type counterObject struct{}

func (*counterObject) Wait(_ *active.Context, gate chan struct{}) (int, error) { <-gate; return 0, nil }
func (*counterObject) Take(*active.Context, *line) (int, error)                { return 0, nil }

// When a process exits, the messages that it has not received are compared, and also what waits with each message that
// is sent.
func TestUnread(t *testing.T) {
	n, f := checked(t)
	h, other := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	l := &line{}
	require.NoError(t, n.Send(h.Self(), l))
	l.Count = 1
	h.Close(nil)
	all := f.take()
	require.Len(t, all, 1)
	require.Equal(t, "exited", all[0].When)
	require.Equal(t, "0", all[0].Was)
	require.Equal(t, "1", all[0].Now)

	h2 := nodetest.NewProbe(t, n)
	require.NoError(t, n.Send(h2.Self(), l))
	l.Count = 2
	require.NoError(t, n.Send(other.Self(), "x"))
	require.Equal(t, "waiting", f.take()[0].When)

	// The same message goes to two processes: the report names the one that received it first.
	require.NoError(t, n.Send(h2.Self(), l))
	require.NoError(t, n.Send(other.Self(), l))
	nodetest.Expect[*line](h2)
	nodetest.Expect[*line](h2).Count = 3
	nodetest.Expect[string](other)
	nodetest.Expect[*line](other)
	all = f.take()
	require.Len(t, all, 1)
	require.Equal(t, []node.PID{h2.Self()}, all[0].Also)
}

// A process receives a copy: with the option set for all processes of a node, for one process, or for one message.
func TestCopies(t *testing.T) {
	all := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	one := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	serve := node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := msg.(node.Request[*line]); ok {
			r.Body.Count++
			return c.Reply(r.From, r.Body)
		}
		return nil
	})
	for _, n := range []*node.Node{all, one} {
		h := nodetest.NewProbe(t, n)
		l := &line{tags: []string{"a"}}
		pid, err := n.SpawnOpt(node.Options{CopyMessages: n == one}, serve)
		require.NoError(t, err)
		got, err := node.Call[*line](ctx, n, pid, l)
		require.NoError(t, err)
		require.Zero(t, l.Count)
		require.Equal(t, 1, got.Count)
		bounded, err := n.SpawnOpt(node.Options{CopyMessages: n == one, Bounds: mailbox.Bounds{Messages: 5}}, serve)
		require.NoError(t, err)
		_, err = node.Call[*line](ctx, n, bounded, l)
		require.NoError(t, err)
		require.Zero(t, l.Count)

		require.NoError(t, n.SendOpt(node.SendOptions{Copy: true}, h.Self(), l))
		copied := nodetest.Expect[*line](h)
		require.NotSame(t, l, copied)
		require.Equal(t, l, copied)
		require.NoError(t, n.Send(h.Self(), l))
		if n == all {
			require.NotSame(t, l, nodetest.Expect[*line](h))
		} else {
			require.Same(t, l, nodetest.Expect[*line](h))
		}
		var refused *isolation.Error
		for _, err := range []error{
			n.Send(pid, []any{func() {}}), n.SendOpt(node.SendOptions{Copy: true}, pid, []any{func() {}}),
		} {
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "[0]", refused.Path)
		}
		_, err = node.Call[int](ctx, n, pid, func() {})
		require.ErrorAs(t, err, &refused)
	}
	// A reply that cannot be copied fails the call.
	bad, err := all.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		return c.Reply(msg.(node.Request[int]).From, func() {})
	}))
	require.NoError(t, err)
	_, err = node.Call[any](ctx, all, bad, 1)
	require.ErrorContains(t, err, "cannot copy: it is a func()")
	// The arguments of calls of active objects are copied, too.
	ref, err := active.Start(all, &counterObject{}, node.Options{})
	require.NoError(t, err)
	_, err = node.Await(ctx, all, active.Go(all, ref, (*counterObject).Take, &line{}))
	require.NoError(t, err)
}

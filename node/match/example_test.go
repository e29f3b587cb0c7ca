package match_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/match"
)

func start() *node.Node {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	return n
}

// The lockable counter of figure 1 of "Event-Based Programming without Inversion of Control", in Scala:
//
//	def loop(value: int): unit = receive {
//	  case Incr()     => loop(value + 1)
//	  case Value(a)   => a ! value; loop(value)
//	  case Lock(a)    => a ! value; receive { case UnLock(v) => loop(v) }
//	  case _          => loop(value)
//	}
func Example_lockableCounter() {
	type (
		Incr   struct{}
		Value  struct{ A node.PID }
		Lock   struct{ A node.PID }
		UnLock struct{ V int }
	)
	n := start()
	defer n.Stop()
	counter, _ := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		value := 0
		locked := match.New(
			match.On(func(m UnLock) { value = m.V }),
		)
		open := match.New(
			match.On(func(Incr) { value++ }),
			match.On(func(m Value) { p.Send(m.A, value) }),
			match.On(func(m Lock) { p.Send(m.A, value); match.Receive(p, locked) }),
			match.On(func(any) {}),
		)
		for {
			if err := match.Receive(p, open); err != nil {
				return err
			}
		}
	}))
	h, _ := n.Open()
	h.Send(counter, Incr{})
	h.Send(counter, "of no use")
	h.Send(counter, Lock{h.Self()})
	fmt.Println("locked at", h.Receive())
	h.Send(counter, Incr{}) // waits
	h.Send(counter, UnLock{10})
	h.Send(counter, Value{h.Self()})
	fmt.Println("then", h.Receive())
	// Output:
	// locked at 1
	// then 11
}

// Push and Pop are the terms {push, 5} and pop for processes of Erlang.
type (
	Push struct {
		_ struct{} `etf:"push,tuple"`
		V int
	}
	Pop struct{}
)

// errEmpty is the answer to a Pop of an empty stack.
var errEmpty = errors.New("empty")

// fixedStack is a stack that drops its oldest element when it is full. It has three behaviours.
type fixedStack struct {
	max                 int
	data                []int
	empty, filled, full *match.Match
}

func newStack(max int) *fixedStack {
	s := &fixedStack{max: max}
	s.empty = match.New(
		match.Do(func(c *node.Context, m Push) error {
			s.data = append(s.data, m.V)
			c.Become(s.filled)
			return nil
		}),
		match.Reply(func(*node.Context, Pop) (int, error) { return 0, errEmpty }),
	)
	s.filled = match.New(
		match.Do(func(c *node.Context, m Push) error {
			if s.data = append(s.data, m.V); len(s.data) == s.max {
				c.Become(s.full)
			}
			return nil
		}),
		match.Reply(func(c *node.Context, _ Pop) (int, error) {
			if len(s.data) == 1 {
				c.Become(s.empty)
			}
			return s.pop(), nil
		}),
	)
	s.full = match.New(
		match.On(func(Push) {}),
		match.Reply(func(c *node.Context, _ Pop) (int, error) {
			c.Become(s.filled)
			return s.pop(), nil
		}),
	)
	return s
}

func (s *fixedStack) pop() int {
	last := len(s.data) - 1
	v := s.data[last]
	s.data = s.data[:last]
	return v
}

// The fixed_stack of libcppa:
//
//	filled = (
//	  on(atom("push"), arg_match) >> [=](int what) { data.push_back(what); if (data.size() == max) become(full); },
//	  on(atom("pop")) >> [=]() { reply(atom("ok"), data.back()); data.pop_back(); if (data.empty()) become(empty); }
//	);
func Example_fixedStack() {
	n := start()
	defer n.Stop()
	stack, _ := n.Spawn(newStack(2).empty)
	n.Send(stack, Push{V: 1})
	n.Send(stack, Push{V: 2})
	n.Send(stack, Push{V: 3}) // it is full
	for range 3 {
		fmt.Println(node.Call[int](context.Background(), n, stack, Pop{}))
	}
	// Output:
	// 2 <nil>
	// 1 <nil>
	// 0 empty
}

// Cases have guards and values, and take parts of a message; they make up others. In libcppa:
//
//	on<int>().when(_x1 % 2 == 0) >> …,  on(0) >> …,  on(to_int) >> …,  after(seconds(1)) >> …
func ExampleNew() {
	n := start()
	defer n.Stop()
	p, _ := n.Open()
	even := func(x int) bool { return x%2 == 0 }
	number := func(text string) (int, bool) {
		x, err := strconv.Atoi(text)
		return x, err == nil
	}
	numbers := match.New(
		match.On(func(int) { fmt.Println("zero") }).Is(0),
		match.On(func(x int) { fmt.Println(x, "is even") }).If(even),
		match.Project(number, match.On(func(x int) { fmt.Println("the text of", x) })),
	)
	all := numbers.Or(
		match.On(func(x any) { fmt.Println("something else:", x) }),
		match.After(time.Millisecond, func() { fmt.Println("nothing") }),
	)
	for _, m := range []any{0, 1, 2, "three", "4"} {
		n.Send(p.Self(), m)
	}
	for range 3 {
		match.Receive(p, numbers)
	}
	for range 3 {
		match.Receive(p, all)
	}
	// Output:
	// zero
	// 2 is even
	// the text of 4
	// something else: 1
	// something else: three
	// nothing
}

// An Actor gets a timeout when no message has come for some time.
func ExampleSetTimeout() {
	n := start()
	defer n.Stop()
	pid, _ := n.Spawn(match.New(
		match.Do(func(c *node.Context, d time.Duration) error {
			match.SetTimeout(c, d)
			return nil
		}),
		match.Do(func(c *node.Context, _ match.Timeout) error {
			fmt.Println("nothing more to do")
			return node.ErrStop
		}),
	))
	n.Send(pid, time.Millisecond)
	node.AwaitExit(context.Background(), n, pid)
	// Output: nothing more to do
}

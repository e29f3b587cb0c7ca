package node_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
)

// The lockable counter of Haller and Odersky (Event-Based Programming without
// Inversion of Control, 2006), in both styles.
type (
	Incr   struct{}
	Value  struct{}
	Lock   struct{}
	UnLock struct{ Value int }
)

// LockableCounter is the event-driven version: a behaviour for each of its states.
type LockableCounter struct{ value int }

func (a *LockableCounter) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case Incr:
		a.value++
	case node.Request[Value]:
		return m.Reply(a.value)
	case node.Request[Lock]:
		c.Push(&Locked{a})
		return m.Reply(a.value)
	}
	return nil
}

// Locked leaves all other requests in the mailbox until the UnLock comes.
type Locked struct{ counter *LockableCounter }

func (a *Locked) Receive(c *node.Context, msg any) error {
	m, ok := msg.(UnLock)
	if !ok {
		return node.ErrUnhandled
	}
	a.counter.value = m.Value
	c.Unbecome()
	return nil
}

// lockableCounter is the blocking version: one receive inside another.
func lockableCounter(p *node.Process) error {
	value := 0
	for {
		switch m := p.Receive().(type) {
		case Incr:
			value++
		case node.Request[Value]:
			m.Reply(value)
		case node.Request[Lock]:
			m.Reply(value)
			value = node.ReceiveOf[UnLock](p).Value
		}
	}
}

// use locks a counter, and asks for its value while it is locked.
func use(n *node.Node, counter node.PID) {
	ctx := context.Background()
	h, _ := n.Open()
	defer h.Close(nil)
	h.Send(counter, Incr{})
	h.Send(counter, Incr{})
	locked, _ := node.Call[int](ctx, h, counter, Lock{})
	fmt.Println("locked at", locked)

	h.Send(counter, Incr{}) // waits
	value := node.Async[int](h, counter, Value{})
	h.Send(counter, UnLock{40})
	v, _ := node.Await(ctx, h, value)
	fmt.Println("then", v)
}

// A process that doubles numbers.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		switch m := msg.(type) {
		case node.Request[int]:
			return m.Reply(2 * m.Body)
		}
		c.Unknown(msg)
		return nil
	}))
	if err != nil {
		panic(err)
	}
	twice, err := node.Call[int](context.Background(), n, pid, 21)
	fmt.Println(twice, err)
	// Output: 42 <nil>
}

func ExampleActor() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	counter, _ := n.Spawn(&LockableCounter{})
	use(n, counter)
	// Output:
	// locked at 2
	// then 41
}

func ExampleProcess() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	counter, _ := n.Spawn(node.ProcessFunc(lockableCounter))
	use(n, counter)
	// Output:
	// locked at 2
	// then 41
}

// The answer to a request is found at once, though many other messages wait.
func ExampleProcess_Mark() {
	type ask struct {
		from node.PID
		ref  node.Ref
	}
	type answer struct {
		ref  node.Ref
		text string
	}
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	server, _ := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		m := node.ReceiveOf[ask](p)
		return p.Send(m.from, answer{m.ref, "here"})
	}))
	p, _ := n.Open()
	for i := range 100_000 {
		p.Send(p.Self(), i)
	}
	receive := p.Mark()
	ref := n.MakeRef()
	p.Send(server, ask{p.Self(), ref})
	asked := 0
	m, err := receive(time.Minute, func(m any) bool {
		asked++
		a, ok := m.(answer)
		return ok && a.ref == ref
	})
	fmt.Println(m.(answer).text, err, asked)
	// Output: here <nil> 1
}

func ExampleCall() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	twice, _ := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		if m, ok := msg.(node.Request[int]); ok {
			m.Reply(2 * m.Body)
		}
		return nil
	}))
	v, err := node.Call[int](context.Background(), n, twice, 21)
	fmt.Println(v, err)

	n.Exit(twice, node.Kill)
	_, err = node.Call[int](context.Background(), n, twice, 21)
	fmt.Println(err)
	// Output:
	// 42 <nil>
	// node: the process exited: noproc
}

// An Actor does not wait for a reply: it lets it come as a message.
func ExampleFuture_SendTo() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	length, _ := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		m := msg.(node.Request[string])
		return m.Reply(len(m.Body))
	}))
	done := make(chan struct{})
	asker, _ := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		switch m := msg.(type) {
		case string:
			node.Async[int](c, length, m).SendTo(c.Self(), m)
		case node.Result:
			fmt.Println(m.Tag, m.Value, m.Err)
			close(done)
		}
		return nil
	}))
	n.Send(asker, "syzygy")
	<-done
	// Output: syzygy 6 <nil>
}

// Any goroutine can take part: its handle is a process like the others.
func ExampleNode_Open() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	echo, _ := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		to := node.ReceiveOf[node.PID](p)
		return p.Send(to, "hello")
	}))
	h, _ := n.Open()
	defer h.Close(nil)
	h.Send(echo, h.Self())
	fmt.Println(h.Receive())
	// Output: hello
}

func ExampleContext_Monitor() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	worker, _ := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		return node.ExitWith(p.Receive())
	}))
	done := make(chan struct{})
	watcher, _ := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		switch m := msg.(type) {
		case node.PID:
			c.Monitor(m)
			c.Send(m, "enough")
		case node.Down:
			fmt.Println(m.PID == worker, m.Reason)
			close(done)
		}
		return nil
	}))
	n.Send(watcher, worker)
	<-done
	// Output: true enough
}

func ExamplePlace() {
	n, _ := node.Start(node.Config{Stages: 4})
	defer n.Stop()
	idle := node.ActorFunc(func(*node.Context, any) error { return nil })
	first, _ := n.SpawnOpt(node.Options{Place: node.OnStage(3)}, idle)
	second, _ := n.SpawnOpt(node.Options{Place: node.Beside(first)}, idle)
	own, _ := n.SpawnOpt(node.Options{Place: node.Detached()}, idle)
	for _, pid := range []node.PID{first, second, own} {
		info, _ := n.Info(pid)
		fmt.Println(info.Stage)
	}
	// Output:
	// 3
	// 3
	// -1
}

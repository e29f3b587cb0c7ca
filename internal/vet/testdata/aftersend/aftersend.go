// Package aftersend has what the analyzer aftersend finds, and beside it what is right.
package aftersend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/supervisor"
)

type order struct {
	id    int
	lines map[string]int
	tags  []string
	next  *order
}

func (o *order) rename(id int) { o.id = id }

func (o order) copied(id int) { o.id = id }

type lockedOrder struct {
	mu sync.Mutex
	id int
}

type envelope struct {
	o    *order
	many map[string]int
}

func sends(n *node.Node, c *node.Context, pid node.PID, from node.From, ctx context.Context) {
	m := map[string]int{}
	n.Send(pid, m)
	m["x"] = 1 // want `m is changed after it was given to Send in line \d+`

	d := map[string]int{}
	c.Send(pid, envelope{many: d})
	delete(d, "x") // want `d is changed after it was given to Send`

	o := &order{}
	node.Call[int](ctx, n, pid, o)
	o.id++ // want `o is changed after it was given to Call`

	deep := &order{}
	genserver.Cast(n, pid, deep)
	deep.lines["x"] = 1 // want `deep is changed after it was given to Cast`

	s := []string{"b", "a"}
	from.Reply(s)
	sort.Strings(s) // want `s is changed after it was given to Reply`

	part := []string{"b", "a"}
	c.Reply(from, part[:1])
	part[0] = "c" // want `part is changed after it was given to Reply`

	a := &order{}
	p, _ := n.Spawn(&actor{first: a})
	a.id = 1 // it has had no message
	n.Send(p, "begin")
	a.id = 2 // want `a is changed after it was given to Spawn`

	i := &initialized{}
	n.SpawnOpt(node.Options{Name: "i"}, i)
	i.actor.first = nil // want `i is changed after it was given to SpawnOpt`

	by := &order{}
	event.Notify(n, pid, by)
	by.rename(2) // want `by is changed after it was given to Notify`

	v := order{}
	n.Send(pid, &v)
	v.id = 1 // want `v is changed after it was given to Send`

	whole := order{lines: map[string]int{}}
	n.Send(pid, whole)
	whole.lines["x"] = 1 // want `whole is changed after it was given to Send`
}

func loops(n *node.Node, pid node.PID, r io.Reader) {
	buf := make([]byte, 1024)
	for {
		k, err := r.Read(buf) // want `buf is changed after it was given to Send`
		if err != nil {
			return
		}
		n.Send(pid, buf[:k])
	}
}

func buffers(n *node.Node, pid node.PID) {
	var b bytes.Buffer
	for _, line := range []string{"a", "b"} {
		b.Reset() // want `b is changed after it was given to Send`
		b.WriteString(line)
		n.Send(pid, b.Bytes())
	}
}

func right(n *node.Node, c *node.Context, pid node.PID, r io.Reader, ctx context.Context) error {
	m := map[string]int{}
	n.Send(pid, maps.Clone(m))
	m["x"] = 1
	n.Send(pid, m)
	m = map[string]int{}
	m["y"] = 2

	o := &order{}
	o.id = 1
	n.Send(pid, *o)
	o.id = 2
	n.Send(pid, o.id)
	o.id = 3
	n.Send(pid, o)
	o.copied(4)

	v := order{}
	n.Send(pid, v)
	v.id = 2
	v.lines = map[string]int{}
	v.lines["x"] = 1

	shared := &lockedOrder{}
	n.Send(pid, shared)
	shared.id = 2

	for i := range 3 {
		fresh := &order{}
		fresh.id = i
		n.Send(pid, fresh)
	}
	for i := 0; i < 3; i++ {
		n.Send(pid, &i)
	}

	self := &order{}
	c.Send(c.Self(), self)
	self.id = 4

	list := []string{}
	n.Send(pid, list)
	list = append(list, "x")

	acked := &order{}
	n.Send(pid, acked)
	node.Call[int](ctx, n, pid, "are you done?")
	acked.id = 5

	refused := &order{}
	if err := n.Send(pid, refused); err != nil {
		refused.id = 0
		return err
	}

	either := &order{}
	if o.id > 2 {
		n.Send(pid, either)
	} else {
		either.id = 1
	}

	buf := make([]byte, 1024)
	for {
		k, err := r.Read(buf)
		if err != nil {
			return err
		}
		n.SendBytes(pid, buf[:k])
		n.Send(pid, slices.Clone(buf[:k]))
		n.Send(pid, string(buf[:k]))
	}
}

type actor struct {
	first  *order
	counts map[string]int
	once   map[string]int
	handed []int
}

func (a *actor) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case string:
		a.counts[m]++
	case node.Request[string]:
		m.Reply(a.counts) // want `a.counts is given to Reply, and a handler changes what it holds \(aftersend.go:\d+\)`
	case node.Request[int]:
		m.Reply(maps.Clone(a.counts))
	case node.Request[bool]:
		m.Reply(a.once)
	case int:
		a.handed[0] = m
	default:
		return node.ErrUnhandled
	}
	return nil
}

type initialized struct{ actor }

func (i *initialized) Init(c *node.Context) error { return nil }

// take hands over what there is, and begins anew.
func (a *actor) take(c *node.Context, to node.PID) {
	c.Send(to, a.handed)
	a.handed = nil
}

type server struct {
	members map[string]int
	copies  map[string]int
	fixed   map[string]int
}

type list struct {
	genserver.Returns[map[string]int]
}

type add struct{ name string }

func (s *server) list(c *genserver.Context, q list) (map[string]int, error) {
	return s.members, nil // want `s.members is given to the caller, and a handler changes what it holds`
}

func (s *server) safe(c *genserver.Context, q string) (map[string]int, error) {
	return maps.Clone(s.members), nil
}

func (s *server) snapshot(c *genserver.Context, q int) (map[string]int, error) {
	return s.copies, nil
}

func (s *server) constant(c *genserver.Context, q bool) (map[string]int, error) {
	return s.fixed, nil
}

func (s *server) add(c *genserver.Context, m add) error {
	if s.members == nil {
		s.members = map[string]int{}
	}
	s.members[m.name]++
	s.copies = maps.Clone(s.copies) // those who have the old one keep it
	s.copies[m.name]++
	return nil
}

var servers = genserver.Define(
	genserver.OnCall((*server).list),
	genserver.OnAnyCall((*server).safe),
	genserver.OnAnyCall((*server).snapshot),
	genserver.OnAnyCall((*server).constant),
	genserver.OnCast((*server).add),
)

func captures(n *node.Node, o *lifetime.Owner) {
	count, sum, right, alone := 0, 0, 0, 0
	n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		alone := count
		fmt.Println(alone)
		return nil
	}))
	count++ // want `count is changed after it was given to Spawn in line \d+`
	alone++

	n.Spawn(node.ProcessFunc(func(p *node.Process) error { sum++; return nil }))
	fmt.Println(sum) // want `sum is used while the process that was given to Spawn in line \d+ changes it`

	done := make(chan int)
	n.Spawn(node.ProcessFunc(func(p *node.Process) error { right++; close(done); return nil }))
	<-done
	fmt.Println(right)

	var at int
	pid, _ := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error { at++; return nil }))
	at = 1 // it has not begun
	n.Send(pid, 1)
	fmt.Println(at) // want `at is used while the process that was given to Spawn in line \d+ changes it`

	for i := range 3 {
		n.Spawn(node.ProcessFunc(func(p *node.Process) error { fmt.Println(i); return nil }))
	}
	for _, c := range []order{{}, {}} {
		if at > 0 {
			c.id = 1
		}
		n.Send(pid, func() int { return c.id })
	}
	ahead, whole := make(chan int), false
	n.Spawn(node.ProcessFunc(func(p *node.Process) error { defer close(ahead); whole = true; return nil }))
	for range ahead {
	}
	fmt.Println(whole)
	by, stepped := node.Options{}.Scheduler, 0
	n.SpawnOpt(node.Options{Scheduler: by}, node.ActorFunc(func(*node.Context, any) error { stepped++; return nil }))
	n.Send(pid, 1)
	fmt.Println(stepped)

	behind, other := &order{}, &order{}
	n.Spawn(node.ProcessFunc(func(p *node.Process) error { fmt.Println(behind.id, other.id); return nil }))
	behind.id = 1 // perhaps under a lock
	other = nil   // want `other is changed after it was given to Spawn in line \d+`
	fmt.Println(other)

	n.Spawn(node.ProcessFunc(func(p *node.Process) error { behind.id++; return nil }))
	fmt.Println(behind)

	b := []byte("x")
	o.Send(n, b)
	b[0] = 'y' // want `b is changed after it was given to Send`

	d := &order{}
	lifetime.Start(n, d, node.Options{})
	n.Send(pid, 1)
	d.tags = nil // want `d is changed after it was given to Start`
}

func twice(n *node.Node, many []*actor) {
	one, other, new := &actor{}, &actor{}, &actor{}
	n.Spawn(one)
	n.Spawn(one) // want `one was given to Spawn in line \d+, and is the state of that process`
	n.Spawn(other)
	other = &actor{}
	n.Spawn(other)
	n.Spawn(new)
	for _, a := range many {
		n.Spawn(a)
	}
	for range 2 {
		n.Spawn(new) // want `new was given to Spawn in line \d+, and is the state of that process` `new was given to Spawn`
	}
	for range 2 {
		a := &actor{}
		n.Spawn(a)
	}
	if _, err := n.Spawn(&actor{}); err != nil {
		n.Spawn(&actor{})
	}
	_ = supervisor.Child{Start: func(...any) (node.Actor, error) { return new, nil }} // want `new is returned for each start`
	_ = supervisor.Child{Start: func(...any) (node.Actor, error) {
		a := &actor{}
		return a, nil
	}}
}

// Package contextescape has what the analyzer contextescape finds, and beside it what is right.
package contextescape

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

var last *node.Context

var current *node.Process

type fetched struct{ text string }

func fetch() string { return "" }

type fetcher struct {
	kept  *node.Context
	given *node.Context
	who   node.PID
	all   map[string]*node.Context
}

type withContext struct{ c *node.Context }

func (f *fetcher) Receive(c *node.Context, msg any) error {
	f.given = c // renewed with each message
	local := withContext{}
	local.c = c // ends with the handler
	switch m := msg.(type) {
	case int:
		go func() {
			c.Send(m2pid(m), fetched{fetch()}) // want `valid on the goroutine of the handler only .* get away by a go statement`
			c.Self()
		}()
		n, self := c.Node(), c.Self()
		go func() { n.Send(self, fetched{fetch()}) }()
	case string:
		go c.Send(f.who, m) // want `get away by a go statement`
		go deliver(c)       // want `get away by a go statement`
		deliver(c)
	case bool:
		f.kept = c     // want `get away by a field that outlives the handler`
		f.all["x"] = c // want `get away by a field`
		last = c       // want `get away by a package variable`
		f.who = c.Self()
	case time.Duration:
		time.AfterFunc(m, func() { c.Send(f.who, m) }) // want `get away by time.AfterFunc`
		c.SendAfter(m, f.who, m)
		context.AfterFunc(c.Context(), func() { f.who = node.PID{} })
	case chan *node.Context:
		m <- c // want `get away by a channel`
	case chan node.PID:
		m <- c.Self()
	case node.PID:
		c.Send(m, c)                  // want `get away by a message \(Send\)`
		c.Send(m, &withContext{c: c}) // want `get away by a message \(Send\)`
		c.Send(m, c.Self())
	default:
		c.Node().Log().Warn("unexpected message")
	}
	return nil
}

func m2pid(int) node.PID { return node.PID{} }

func deliver(c *node.Context) { c.Send(c.Self(), 1) }

type server struct {
	wg sync.WaitGroup
	eg errgroup.Group
}

func (s *server) ask(c *genserver.Context, q string) (string, error) {
	s.wg.Go(func() { c.Send(c.Self(), q) })              // want `\*genserver.Context is valid .* by sync.WaitGroup.Go`
	s.eg.Go(func() error { return c.Send(c.Self(), q) }) // want `get away by errgroup.Group.Go`
	n, from := c.Node(), c.From()
	s.eg.Go(func() error { n.Log(); return from.Reply("done") })
	c.Continue(func(c *genserver.Context) error { return c.Send(c.Self(), q) })
	return "", genserver.ErrReplyLater
}

func process(p *node.Process) error {
	go func() { p.Receive() }() // want `belongs to the goroutine of its process`
	go func() { p.Node().Send(p.Self(), 1) }()
	current = p // want `get away by a package variable`
	runs := struct{ p *node.Process }{p}
	runs.p.Receive()
	return nil
}

func handles(n *node.Node) error {
	own, err := n.Open()
	if err != nil {
		return err
	}
	shared, err := n.Open()
	if err != nil {
		return err
	}
	go func() {
		own.Receive()
		shared.Receive() // want `belongs to the goroutine of its process`
	}()
	shared.Receive()
	return n.Send(own.Self(), 1)
}

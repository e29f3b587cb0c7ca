// Package noreply has what the analyzer noreply finds, and beside it what is right.
package noreply

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

type get struct{}

type set struct{ n int }

type counter struct {
	n       int
	waiting []node.From
	kept    []node.Request[string]
	later   chan node.From
	helper  node.PID
}

func (a *counter) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[set]: // want `the request is never answered`
		a.n = m.Body.n
	case node.Request[bool]: // want `the request is never answered`
		if m.Pending() {
			fmt.Println(m.Caller(), m.Body)
		}
		return nil
	case node.Request[get]:
		m.Reply(a.n)
	case node.Request[int]:
		if m.Body < 0 {
			return m.Fail(errors.New("negative"))
		}
		c.Reply(m.From, a.n)
	case node.Request[float64]:
		a.waiting = append(a.waiting, m.From)
	case node.Request[string]:
		a.kept = append(a.kept, m)
	case node.Request[[]byte]:
		return c.Send(a.helper, msg)
	case node.Request[uint]:
		go func() { m.Reply(1) }()
	case node.Request[uint8]:
		return node.ErrStop
	case node.Request[uint16]:
		panic("never asked for")
	case node.Request[uint32]:
		if m.Body > 1 {
			return fmt.Errorf("%d is too much", m.Body)
		}
	case int:
		a.n++
	default:
	}
	return nil
}

var unnamed = node.ActorFunc(func(c *node.Context, msg any) error {
	switch msg.(type) {
	case node.Request[int]: // want `the request is never answered`
		return nil
	default:
	}
	if _, ok := msg.(node.Request[set]); ok { // want `the request is never answered`
		c.Send(c.Self(), 1)
	}
	if m, ok := msg.(node.Request[get]); ok {
		return m.Reply(1)
	}
	return nil
})

type several struct{ sum int }

func (a *several) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[int], node.Request[uint]: // want `the request is never answered`
		a.sum++
	case node.Request[bool], node.Request[string]:
		a.answer(m)
	default:
	}
	return nil
}

func (a *several) answer(any) {}

var alone = node.ActorFunc(func(c *node.Context, msg any) error {
	m := msg.(node.Request[int]) // want `the request is never answered`
	fmt.Println(m.Body)
	return nil
})

var aloneRight = node.ActorFunc(func(c *node.Context, msg any) error {
	m, ok := msg.(node.Request[int])
	if !ok {
		c.Unknown(msg)
		return nil
	}
	return m.Reply(m.Body)
})

type proxy struct{ to node.PID }

func (p *proxy) Receive(c *node.Context, msg any) error {
	if m, ok := msg.(node.Request[set]); ok {
		c.Node().Log().Info("asked", "for", m.Body)
	}
	return c.Send(p.to, msg)
}

type question struct{ genserver.Returns[int] }

type server struct{ waiting []node.From }

func (s *server) never(c *genserver.Context, q question) (int, error) {
	c.Timeout(0)
	return 0, genserver.ErrReplyLater // want `the reply can never be given`
}

func (s *server) unnamed(*genserver.Context, question) (int, error) {
	return 0, genserver.ErrReplyLater // want `the reply can never be given`
}

func (s *server) later(c *genserver.Context, q question) (int, error) {
	s.waiting = append(s.waiting, c.From())
	return 0, genserver.ErrReplyLater
}

func (s *server) keep(c *genserver.Context) { s.waiting = append(s.waiting, c.From()) }

func (s *server) keeps(c *genserver.Context, q question) (int, error) {
	s.keep(c)
	return 0, genserver.ErrReplyLater
}

func (s *server) stops(c *genserver.Context, q question) (int, error) {
	c.Stop(node.Shutdown)
	return 0, genserver.ErrReplyLater
}

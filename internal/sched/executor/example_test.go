package executor_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/mailbox"
)

// counter is a task with a mailbox. It adds up the numbers it is sent.
type counter struct {
	executor.Entity
	in    inbox.Inbox
	q     inbox.Queue // guarded by the home stage
	sum   int         // the handler's: turns do not overlap
	ended bool        // the handler that lost its stage has ended
}

func (c *counter) handle(n int) { c.sum += n }

func (c *counter) Turn(w *executor.Worker) executor.TurnResult {
	for range 100 { // then the others
		msg, ok := c.q.Next()
		if !ok {
			if c.in.Take(&c.q) > 0 {
				continue
			}
			return executor.Idle
		}
		w.Leave()
		c.handle(msg.(int))
		if !w.Enter() {
			c.ended = true
			return executor.Lost
		}
		w.Stage().Recycle(c.q.Drop())
	}
	return executor.Again
}

func (c *counter) CollectInbox(*executor.Stage) bool {
	c.in.TakeArmed(&c.q)
	return c.q.More()
}

func (c *counter) FinishDetached(s *executor.Stage) bool {
	if c.ended {
		c.ended = false
		s.Recycle(c.q.Drop())
	}
	return c.q.More() || c.in.Pending()
}

func (c *counter) Claim() bool  { return c.in.Claim() }
func (c *counter) Name() string { return "counter" }

func Example() {
	p := executor.New(executor.Config{})
	p.Start()
	c := &counter{}
	c.Adopt(c, p.Spread(), false)
	for n := range 1000 {
		if c.in.Push(&inbox.Node{Msg: n}) == mailbox.Wake {
			p.Inject(&c.Entity, nil)
		}
	}
	if err := p.Stop(context.Background()); err != nil { // when everything is done
		fmt.Println(err)
	}
	fmt.Println(c.sum)
	// Output: 499500
}

package main

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/tasks"
)

// Budget is what a conversation may use.
type Budget struct {
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
}

// ledger has what is left to each conversation. It is not in their processes: a budget must not be full again after a crash or
// after a pause. Here it ends with the program; a database would keep it.
type ledger struct {
	mu   sync.Mutex
	each Budget            // of a new conversation
	max  int               // conversations
	left map[string]Budget // guarded by mu
}

var (
	errSpent = errors.New("the budget of the conversation is spent")
	errMany  = errors.New("there are too many conversations")
)

// take takes a call from a budget, before it is made.
func (l *ledger) take(conversation string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, known := l.left[conversation]
	switch {
	case !known && len(l.left) == l.max:
		return errMany
	case !known:
		b = l.each
	}
	if b.Calls <= 0 || b.Tokens <= 0 {
		return errSpent
	}
	b.Calls--
	l.left[conversation] = b
	return nil
}

// pay takes the tokens of an answer. Calls at the same time may take more than is left, once.
func (l *ledger) pay(conversation string, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.left[conversation]
	b.Tokens -= tokens
	l.left[conversation] = b
}

func (l *ledger) of(conversation string) Budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b, known := l.left[conversation]; known {
		return b
	}
	return l.each
}

// Ask is a request to a conversation: calls of tools that are made at the same time.
type Ask struct {
	genserver.Returns[Turn]
	Calls  []Call
	Pieces node.PID // gets each Piece; zero: none does
}

// Turn is the reply: an Answer for each Call, in their order.
type Turn struct {
	Number  int      `json:"number"`
	Answers []Answer `json:"answers"`
	Left    Budget   `json:"left"`
}

// conversation is the process of one conversation. It takes one request at a time, and has what was said before.
type conversation struct {
	*agents
	id    string
	turns []Turn
}

func (v *conversation) ask(c *genserver.Context, a Ask) (Turn, error) {
	n := c.Node()
	work := func(p *node.Process, call Call) (Answer, error) {
		if err := v.ledger.take(v.id); err != nil {
			return Answer{}, err
		}
		text, tokens, err := v.pool.call(p.Context(), n, call, a.Pieces)
		v.ledger.pay(v.id, tokens)
		return Answer{Text: text, Tokens: tokens}, err
	}
	ctx := c.CallContext() // ends with the caller, and with this process
	t := Turn{Number: len(v.turns) + 1}
	for answer, err := range tasks.Map(ctx, c, len(a.Calls), slices.Values(a.Calls), work) {
		if err != nil && ctx.Err() == nil {
			answer.Error = err.Error()
		}
		t.Answers = append(t.Answers, answer)
	}
	if ctx.Err() != nil {
		return Turn{}, ctx.Err()
	}
	t.Left = v.ledger.of(v.id)
	v.turns = append(v.turns, t)
	return t, nil
}

// agents is what the parts of the program share.
type agents struct {
	pool          *pool
	ledger        *ledger
	conversations *keyed.Group[string]
	top           node.PID
}

var conversations = genserver.Define(genserver.OnCall((*conversation).ask))

// newAgents makes the conversations, whose processes start with their first request and end when they are idle.
func newAgents(p *pool, each Budget) *agents {
	a := &agents{pool: p, ledger: &ledger{each: each, max: 100_000, left: map[string]Budget{}}}
	a.conversations = keyed.MustNew(keyed.Kind[string]{
		Name: "conversations", Idle: 30 * time.Minute, Max: 10_000,
		Options: node.Options{Bounds: mailbox.Bounds{Messages: 4}}, // of more requests the caller gets node.ErrMailboxFull
		New:     func(id string) (node.Actor, error) { return conversations.New(&conversation{agents: a, id: id}), nil },
	})
	return a
}

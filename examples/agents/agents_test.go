package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// tool stands for a program: it answers as tools.py does.
func tool(working, most *atomic.Int64) func() node.Actor {
	return func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			r, ok := msg.(node.Request[wire.Tuple])
			if !ok {
				c.Unknown(msg)
				return nil
			}
			most.Store(max(most.Load(), working.Add(1)))
			defer working.Add(-1)
			text := r.Body[1].(string)
			words := strings.Fields(strings.ToUpper(text))
			switch r.Body[0] {
			case "upper":
				c.Blocking(func() { wait(c, time.Second) })
				if to, ok := r.Body[3].(node.PID); ok {
					for _, word := range words {
						if err := c.Send(to, wire.Tuple{wire.Atom("piece"), r.Body[4], word}); err != nil {
							return err
						}
					}
				}
				return r.Reply(wire.Tuple{strings.Join(words, " "), len(words)})
			case "fail":
				return r.Fail(errors.New("no answer for " + text))
			case "crash":
				return node.ExitWith(wire.Atom("crashed"))
			case "nonsense":
				return r.Reply(wire.Tuple{wire.Atom("what"), -1000, "?"})
			}
			c.Blocking(func() { wait(c, time.Hour) })
			return r.Reply(wire.Tuple{"", 0})
		})
	}
}

func wait(c *node.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.Context().Done():
	}
}

type bench struct {
	*agents
	t             *testing.T
	node          *node.Node
	working, most atomic.Int64 // tools
}

// play plays a test in a bubble, without programs.
func play(t *testing.T, size int, each Budget, f func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, node: nodetest.Start(t, node.Config{})}
		p := newPool(size, 10*time.Second, tool(&b.working, &b.most))
		var err error
		b.agents, err = start(t.Context(), b.node, p, each)
		require.NoError(t, err)
		f(t, b)
		synctest.Wait()
		require.Len(t, p.free, size, "a tool has not been given back")
	})
}

var plenty = Budget{Calls: 100, Tokens: 1000}

func calls(texts ...string) (all []Call) {
	for i, text := range texts {
		name, rest, _ := strings.Cut(text, " ")
		all = append(all, Call{Number: i, Tool: name, Text: rest})
	}
	return all
}

func (b *bench) ask(id string, texts ...string) Turn {
	t, err := keyed.Ask(b.t.Context(), b.node, b.conversations, id, Ask{Calls: calls(texts...)})
	require.NoError(b.t, err)
	return t
}

func TestSeveralAtATime(t *testing.T) {
	play(t, 3, plenty, func(t *testing.T, b *bench) {
		began := time.Now()
		turn := b.ask("ann", "upper a b", "upper c", "upper d e f", "upper g")
		require.Equal(t, Turn{Number: 1, Answers: []Answer{
			{Text: "A B", Tokens: 2}, {Text: "C", Tokens: 1}, {Text: "D E F", Tokens: 3}, {Text: "G", Tokens: 1},
		}, Left: Budget{96, 993}}, turn)
		require.Equal(t, 2*time.Second, time.Since(began)) // three, then one
		require.Equal(t, int64(3), b.most.Load())
		require.Equal(t, 2, b.ask("ann", "upper x").Number)
		require.Equal(t, 1, b.ask("bob", "upper x").Number)
	})
}

func TestFailuresEndTheirCallOnly(t *testing.T) {
	play(t, 2, plenty, func(t *testing.T, b *bench) {
		turn := b.ask("ann", "fail x", "upper a", "crash", "loop", "upper b", "nonsense", "upper c")
		require.Equal(t, []string{"", "A", "", "", "B", "", "C"}, texts(turn))
		for i, part := range map[int]string{0: "no answer for x", 2: "crashed", 3: "overrun its time", 5: "reading the answer"} {
			require.Contains(t, turn.Answers[i].Error, part)
		}
		require.Equal(t, Budget{93, 997}, turn.Left)
		require.Equal(t, []string{"D", "E"}, texts(b.ask("ann", "upper d", "upper e"))) // both tools work again
	})
}

func texts(t Turn) (all []string) {
	for _, a := range t.Answers {
		all = append(all, a.Text)
	}
	return all
}

// Programs that crash again and again are slowed down, and end neither the tree nor other conversations.
func TestManyCrashes(t *testing.T) {
	play(t, 2, Budget{Calls: 1000, Tokens: 1000}, func(t *testing.T, b *bench) {
		for range 100 {
			require.Contains(t, b.ask("eve", "crash").Answers[0].Error, "crashed")
		}
		require.Equal(t, []string{"A"}, texts(b.ask("ann", "upper a")))
	})
}

func TestBudget(t *testing.T) {
	play(t, 2, Budget{Calls: 4, Tokens: 5}, func(t *testing.T, b *bench) {
		b.ask("ann", "upper a b c")
		turn := b.ask("ann", "upper d e f") // the last answer may take more than is left
		require.Equal(t, Budget{2, -1}, turn.Left)
		require.Equal(t, errSpent.Error(), b.ask("ann", "upper g").Answers[0].Error)

		turn = b.ask("bob", "fail", "fail", "fail", "fail", "fail", "fail") // failures cost a call, too
		spent := 0
		for _, a := range turn.Answers {
			if a.Error == errSpent.Error() {
				spent++
			}
		}
		require.Equal(t, 2, spent)
		require.Equal(t, Budget{0, 5}, turn.Left)

		// Neither the end of the process nor its crash fills a budget again.
		require.NoError(t, b.conversations.End(t.Context(), b.node, "ann"))
		turn = b.ask("ann", "upper h")
		require.Equal(t, 1, turn.Number) // a new process
		require.Equal(t, errSpent.Error(), turn.Answers[0].Error)
		require.Equal(t, []string{"I"}, texts(b.ask("cyd", "upper i")))
	})
}

func TestLedgerIsBounded(t *testing.T) {
	l := &ledger{each: Budget{1, 1}, max: 2, left: map[string]Budget{}}
	require.NoError(t, l.take("a"))
	require.NoError(t, l.take("b"))
	require.ErrorIs(t, l.take("c"), errMany)
	require.ErrorIs(t, l.take("a"), errSpent)
	require.Equal(t, Budget{1, 1}, l.of("c"))
}

// A caller that gives up, and a conversation that is killed, end what the tool does for them.
func TestCallerGone(t *testing.T) {
	play(t, 1, plenty, func(t *testing.T, b *bench) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := keyed.Ask(ctx, b.node, b.conversations, "ann", Ask{Calls: calls("loop")})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []string{"A"}, texts(b.ask("bob", "upper a")))
		require.Less(t, time.Since(began), 3*time.Second) // not after the ten of the limit

		began = time.Now()
		lost := make(chan error, 1)
		go func() {
			_, err := keyed.Ask(t.Context(), b.node, b.conversations, "cyd", Ask{Calls: calls("loop")})
			lost <- err
		}()
		synctest.Wait()
		require.Equal(t, int64(1), b.working.Load())
		pid, ok := b.conversations.Lookup("cyd")
		require.True(t, ok)
		b.node.Exit(pid, node.Kill)
		require.Error(t, <-lost)
		require.Equal(t, []string{"B"}, texts(b.ask("bob", "upper b")))
		require.Less(t, time.Since(began), 3*time.Second)
	})
}

func TestBackPressure(t *testing.T) {
	play(t, 1, plenty, func(t *testing.T, b *bench) {
		errs := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := keyed.Ask(t.Context(), b.node, b.conversations, "ann", Ask{Calls: calls("upper a")})
				errs <- err
			}()
		}
		full := 0
		for range 10 {
			if errors.Is(<-errs, node.ErrMailboxFull) {
				full++
			}
		}
		require.Equal(t, 6, full)
		require.Equal(t, http.StatusTooManyRequests, status(fmt.Errorf("x: %w", node.ErrMailboxFull)))
	})
}

func TestPieces(t *testing.T) {
	play(t, 2, plenty, func(t *testing.T, b *bench) {
		p := nodetest.NewProbe(t, b.node)
		_, err := keyed.Ask(t.Context(), b.node, b.conversations, "ann", Ask{Calls: calls("upper a b", "fail"), Pieces: p.Self()})
		require.NoError(t, err)
		for _, want := range []Piece{{Call: 0, Text: "A"}, {Call: 0, Text: "B"}} {
			var piece Piece
			require.NoError(t, etf.FromTerm(nodetest.Expect[wire.Tuple](p), &piece))
			require.Equal(t, want, piece)
		}
		p.ExpectNone()
	})
}

func TestHTTP(t *testing.T) {
	play(t, 2, plenty, func(t *testing.T, b *bench) {
		h := b.handler(b.node)
		post := func(path, body string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
			return w
		}
		w := post("/conversations/ann", `{"calls": [{"tool": "upper", "text": "a b"}, {"tool": "fail"}]}`)
		require.Equal(t, http.StatusOK, w.Code)
		require.JSONEq(t, `{"number": 1, "answers": [{"text": "A B", "tokens": 2},
			{"text": "", "tokens": 0, "error": "tool fail: no answer for "}], "left": {"calls": 98, "tokens": 998}}`, w.Body.String())

		w = post("/conversations/ann?stream", `{"calls": [{"tool": "upper", "text": "`+strings.Repeat("x ", 200)+`"}]}`)
		require.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
		events := strings.Split(strings.TrimSpace(w.Body.String()), "\n\n")
		require.Len(t, events, 201) // all pieces, though only 64 may wait, and then the turn
		require.Equal(t, "event: piece\ndata: {\"call\":0,\"text\":\"X\"}", events[199])
		require.True(t, strings.HasPrefix(events[200], "event: turn\n"), events[200])

		for _, bad := range []string{``, `{}`, `[]`, `{"calls": []}`, `{"calls": [` + strings.Repeat(`{},`, 16) + `{}]}`,
			`{"calls": [{"tool": "upper", "text": "` + strings.Repeat("x", maxBody) + `"}]}`} {
			require.Equal(t, http.StatusBadRequest, post("/conversations/ann", bad).Code)
		}
		require.Equal(t, http.StatusBadRequest, post("/conversations/"+strings.Repeat("x", 65), `{"calls": [{}]}`).Code)
	})
}

func needsPython(t *testing.T) {
	if err := exec.Command("python3", "-c", "pass").Run(); err != nil {
		t.Skip("not installed: python3, which the tools need")
	}
}

// The whole program: when it is told to stop, it still answers what it has begun.
func TestRun(t *testing.T) {
	needsPython(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, l, 2, time.Second, plenty) }()
	body := `{"calls": [{"tool": "upper", "text": "hello"}, {"tool": "loop"}]}`
	answer := make(chan string, 1)
	r, err := http.Post("http://"+l.Addr().String()+"/conversations/ann?stream", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	go func() {
		text, _ := io.ReadAll(r.Body)
		answer <- string(text)
	}()
	stop() // the first call may have been answered; the other one loops
	require.Contains(t, <-answer, `event: turn`)
	require.NoError(t, r.Body.Close())
	require.NoError(t, <-done)
}

// The programs themselves, in Python.
func TestPython(t *testing.T) {
	needsPython(t)
	n := nodetest.Start(t, node.Config{})
	program, err := python(t.TempDir())
	require.NoError(t, err)
	program.Ready = nodetest.Timeout
	p := newPool(3, 20*nodetest.Timeout, func() node.Actor { return port.New(program) })
	a, err := start(t.Context(), n, p, plenty)
	require.NoError(t, err)
	probe := nodetest.NewProbe(t, n)
	ask := func(pieces node.PID, texts ...string) Turn {
		turn, err := keyed.Ask(t.Context(), n, a.conversations, "ann", Ask{Calls: calls(texts...), Pieces: pieces})
		require.NoError(t, err)
		return turn
	}
	turn := ask(probe.Self(), "upper one two", "count a b c", "fail x", "crash", "none", "upper größe")
	require.Equal(t, []string{"ONE TWO", "3", "", "", "", "GRÖSSE"}, texts(turn))
	for i, part := range map[int]string{2: "no answer for x", 3: "exit_status,3", 4: "no_such_tool"} {
		require.Contains(t, turn.Answers[i].Error, part)
	}
	said := map[string]bool{}
	for range 3 {
		var piece Piece
		require.NoError(t, etf.FromTerm(nodetest.Expect[wire.Tuple](probe), &piece))
		said[piece.Text] = true
	}
	require.Equal(t, map[string]bool{"ONE": true, "TWO": true, "GRÖSSE": true}, said)

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := keyed.Ask(ctx, n, a.conversations, "bob", Ask{Calls: calls("loop")})
		done <- err
	}()
	var looping port.Info
	for looping.Calls == 0 { // until a program has it
		for _, child := range p.tools.Children {
			at, err := node.Retry(t.Context(), n, func() (port.Info, error) { return port.Inspect(t.Context(), n, child.Options.Name) })
			require.NoError(t, err)
			if at.Calls > 0 {
				looping = at
			}
		}
	}
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, []string{"A", "B", "C"}, texts(ask(node.PID{}, "upper a", "upper b", "upper c")))
}

// The module for ports that the tools import is the one that the repository tests.
func TestModule(t *testing.T) {
	here, err := os.ReadFile("tools/actornode_port.py")
	require.NoError(t, err)
	there, err := os.ReadFile("../../deploy/samples/port/actornode_port.py")
	require.NoError(t, err)
	require.Equal(t, string(there), string(here), "copy deploy/samples/port/actornode_port.py to examples/agents/tools")
}

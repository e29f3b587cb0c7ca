package supervisor_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

var (
	errServe = errors.New("serve")
	errDrain = errors.New("drain")
	errTop   = errors.New("top")
)

// running is a program in Run, and what has happened in it.
type running struct {
	*oracleNode
	top    node.PID
	end    context.CancelFunc // of Run's context
	serve  chan error         // what Serve returns; closed by Drain: errServe
	result chan error

	mu     sync.Mutex
	events []string
}

func (r *running) event(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, what)
}

// child is told about its end and takes some time for it.
func (r *running) child(id string, takes time.Duration) supervisor.Child {
	return supervisor.Child{ID: id, Shutdown: time.Minute, Options: node.Options{Name: node.Atom(id)},
		Start: func(...any) (node.Actor, error) {
			return node.ProcessFunc(func(p *node.Process) error {
				p.TrapExit(true)
				p.Receive()
				time.Sleep(takes)
				r.event(id)
				return node.ExitWith(node.Shutdown)
			}), nil
		}}
}

// start starts a tree whose children take that long to end, and Run.
func (s *oracleNode) run(takes time.Duration, drain func(r *running, ctx context.Context) error) *running {
	ctx, end := context.WithCancel(s.Context())
	r := &running{oracleNode: s, end: end, serve: make(chan error, 1), result: make(chan error, 1)}
	top, err := supervisor.Start(ctx, s.n, supervisor.Spec{Intensity: supervisor.NoRestarts,
		Children: []supervisor.Child{r.child("a", takes), r.child("b", takes)}}, node.Options{})
	require.NoError(s, err)
	r.top = top
	go func() {
		r.result <- supervisor.Run(ctx, s.n, top, supervisor.Service{
			Serve: func() error {
				err := <-r.serve
				r.event("served")
				return err
			},
			Drain: func(ctx context.Context) error {
				r.event("drain")
				return drain(r, ctx)
			},
		})
	}()
	synctest.Wait()
	require.Empty(s, r.result)
	return r
}

// drains is a Drain that ends Serve.
func drains(r *running, _ context.Context) error {
	r.serve <- errServe
	synctest.Wait()
	return nil
}

// What ends a program, in which order its parts end, and the error.
func TestRun(t *testing.T) {
	inOrder := []string{"drain", "served", "b", "a"}
	late := func(r *running, ctx context.Context) error {
		<-ctx.Done()
		r.serve <- nil
		return errors.Join(errDrain, ctx.Err())
	}
	for name, c := range map[string]struct {
		takes  time.Duration // of each child
		drain  func(r *running, ctx context.Context) error
		end    func(r *running)
		events []string
		errs   []error
		reason any // of the *node.ExitError; nil: the error has no *node.ExitError
		took   time.Duration
	}{
		"the context ends":  {0, drains, func(r *running) { r.end() }, inOrder, nil, nil, 0},
		"the children wait": {10 * time.Second, drains, func(r *running) { r.end() }, inOrder, nil, nil, 20 * time.Second},
		"Serve fails": {0, noDrain, func(r *running) { r.serve <- errServe },
			[]string{"served", "drain", "b", "a"}, []error{errServe}, nil, 0},
		"Serve returns": {0, noDrain, func(r *running) { r.serve <- nil }, []string{"served", "drain", "b", "a"}, nil, nil, 0},
		"the tree gives up": {0, drains, func(r *running) { r.n.Exit(r.pid("b"), node.Kill) },
			[]string{"a", "drain", "served"}, nil, node.Shutdown, 0},
		"the tree is killed": {0, drains, func(r *running) { r.n.Exit(r.top, node.Kill) }, nil, nil, node.Killed, 0},
		"the tree is stopped": {0, drains, func(r *running) { r.n.Exit(r.top, node.Shutdown) },
			[]string{"b", "a", "drain", "served"}, nil, node.Shutdown, 0},
		"Drain fails": {0, func(r *running, ctx context.Context) error { return errors.Join(drains(r, ctx), errDrain) },
			func(r *running) { r.end() }, inOrder, []error{errDrain}, nil, 0},
		"the tree gives up meanwhile": {0, func(r *running, ctx context.Context) error {
			r.n.Exit(r.pid("b"), node.Kill)
			synctest.Wait()
			return drains(r, ctx)
		}, func(r *running) { r.end() }, []string{"drain", "a", "served"}, nil, node.Shutdown, 0},
		"Drain takes too long": {0, late, func(r *running) { r.end() }, nil,
			[]error{errDrain, context.DeadlineExceeded}, nil, 25 * time.Second},
		"Serve does not return": {0, noDrain, func(r *running) { r.end() }, nil,
			[]error{context.DeadlineExceeded}, nil, 25 * time.Second},
		"the children take too long": {20 * time.Second, drains, func(r *running) { r.end() }, []string{"drain", "served", "b"},
			[]error{context.DeadlineExceeded}, nil, 25 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, slog.New(slog.DiscardHandler), func(s *oracleNode) {
				r := s.run(c.takes, c.drain)
				begin := time.Now()
				c.end(r)
				err := <-r.result
				require.Equal(s, c.took, time.Since(begin))
				if c.events != nil {
					r.mu.Lock()
					require.Equal(s, c.events, r.events)
					r.mu.Unlock()
				}
				exit, ended := errors.AsType[*node.ExitError](err)
				require.Equal(s, c.reason != nil, ended, "%v", err)
				if ended {
					require.Equal(s, c.reason, exit.Reason)
				}
				for _, want := range []error{errServe, errDrain, context.DeadlineExceeded} {
					require.Equal(s, slices.Contains(c.errs, want), errors.Is(err, want), "%v in %v", want, err)
				}
				require.Equal(s, c.errs == nil && !ended, err == nil, "%v", err)
				r.end()
				if name == "Serve does not return" {
					r.serve <- nil
				}
				time.Sleep(time.Minute) // for children that take long
			})
		})
	}
}

func noDrain(*running, context.Context) error { return nil }

func (s *oracleNode) pid(name node.Atom) node.PID {
	pid, ok := s.n.Whereis(name)
	require.True(s, ok)
	return pid
}

// A program with nothing but a tree. A context that has ended before, a tree that has, and the error that ended it.
func TestRunTree(t *testing.T) {
	inBubble(t, slog.New(slog.DiscardHandler), func(s *oracleNode) {
		run := func(ctx context.Context, top node.PID) error {
			return supervisor.Run(ctx, s.n, top, supervisor.Service{})
		}
		over, cancel := context.WithCancel(background)
		cancel()
		sup, err := supervisor.Start(background, s.n, supervisor.Spec{}, node.Options{})
		require.NoError(s, err)
		require.NoError(s, run(over, sup))
		require.False(s, s.n.IsAlive(sup))
		require.ErrorIs(s, run(over, sup), node.ErrNoProcess)
		require.ErrorIs(s, run(background, sup), node.ErrNoProcess)

		fails, err := s.n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return errTop }))
		require.NoError(s, err)
		time.AfterFunc(time.Hour, func() { _ = s.n.Send(fails, "end") })
		require.ErrorIs(s, run(background, fails), errTop)
	})
}

// An HTTP server: a request that is under way is answered by the tree, then both end.
func TestRunHTTP(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx, cancel := context.WithCancel(testkit.Context(t))
	defer cancel()
	top, err := supervisor.Start(ctx, n, supervisor.Spec{}, node.Options{})
	require.NoError(t, err)
	begun := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-ctx.Done()
		if !n.IsAlive(top) {
			w.WriteHeader(http.StatusTeapot)
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		result <- supervisor.Run(ctx, n, top, supervisor.Service{
			Serve: func() error { return server.Serve(l) }, Drain: server.Shutdown})
	}()
	status := make(chan int, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		r.Body.Close()
		status <- r.StatusCode
	}()
	<-begun
	cancel()
	require.Equal(t, http.StatusOK, <-status)
	require.NoError(t, <-result)
	require.False(t, n.IsAlive(top))
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
)

// client makes requests to a queue of its own.
type client struct {
	t *testing.T
	n *node.Node
	http.Handler
}

// inBubble tests a queue with one kind of jobs.
func inBubble(t *testing.T, c Config, h Handler, test func(t *testing.T, c *client)) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		c.Handlers = map[string]Handler{"test": h, "divide": divide}
		c.Workers, c.Max, c.Tries = max(c.Workers, 1), max(c.Max, 3), max(c.Tries, 1)
		c.First, c.Last, c.Deadline, c.Keep = time.Second, 4*time.Second, time.Hour, 2*time.Hour
		_, err := Start(t.Context(), n, c)
		require.NoError(t, err)
		test(t, &client{t, n, Handle(n)})
	})
}

// do makes a request, checks the status, and returns the answer.
func (c *client) do(status int, request, body string) *httptest.ResponseRecorder {
	c.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body)))
	require.Equal(c.t, status, w.Code, "%s: %s", request, w.Body)
	return w
}

// submit adds a job, lets it begin, and returns its ID.
func (c *client) submit(body string) string {
	c.t.Helper()
	j := decoded[Job](c.t, c.do(http.StatusAccepted, "POST /jobs", body))
	synctest.Wait()
	return j.ID
}

func (c *client) show(id string) Job {
	c.t.Helper()
	synctest.Wait()
	return decoded[Job](c.t, c.do(http.StatusOK, "GET /jobs/"+id, ""))
}

func decoded[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}

var errTest = errors.New("not today")

func fails(context.Context, json.RawMessage) (any, error) { return nil, errTest }

// blocks waits for the end of its context.
func blocks(ctx context.Context, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDone(t *testing.T) {
	inBubble(t, Config{}, nil, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"divide","input":[12,3],"within":"1m"}`)
		require.Equal(t, Job{
			ID: id, Kind: "divide", Input: json.RawMessage(`[12,3]`), Status: done, Tries: 1,
			Deadline: time.Now().Add(time.Minute).UTC(), Result: 4.0,
		}, c.show(id))
		c.do(http.StatusConflict, "DELETE /jobs/"+id, "")
		c.do(http.StatusConflict, "POST /dead/"+id, "")
		time.Sleep(2*time.Hour + 1)
		c.do(http.StatusNotFound, "GET /jobs/"+id, "")
	})
}

// The pauses between the tries double up to a limit. A job that has failed too often is in the list of dead ones.
func TestRetries(t *testing.T) {
	var tries []time.Time
	h := func(context.Context, json.RawMessage) (any, error) {
		tries = append(tries, time.Now())
		return nil, errTest
	}
	inBubble(t, Config{Tries: 5}, h, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test"}`)
		require.Equal(t, retrying, c.show(id).Status)
		time.Sleep(time.Minute)
		j := c.show(id)
		require.Len(t, tries, 5)
		for i, most := range []time.Duration{1, 2, 4, 4} {
			most *= time.Second
			pause := tries[i+1].Sub(tries[i])
			require.GreaterOrEqual(t, pause, most/2)
			require.LessOrEqual(t, pause, most)
		}
		require.Equal(t, dead, j.Status)
		require.Equal(t, 5, j.Tries)
		require.Equal(t, errTest.Error(), j.Error)
		require.Equal(t, []Job{j}, decoded[[]Job](t, c.do(http.StatusOK, "GET /dead", "")))
	})
}

// Each pause has something random in it, and none is too long however often a job is tried.
func TestBackoff(t *testing.T) {
	c := Config{First: time.Second, Last: time.Hour}
	seen := map[time.Duration]bool{}
	for range 100 {
		seen[c.backoff(1)] = true
	}
	require.Greater(t, len(seen), 50)
	for _, tries := range []int{13, 31, 32, 64, 1000} {
		require.GreaterOrEqual(t, c.backoff(tries), c.Last/2)
		require.LessOrEqual(t, c.backoff(tries), c.Last)
	}
}

func TestRevive(t *testing.T) {
	var works atomic.Bool
	h := func(context.Context, json.RawMessage) (any, error) {
		if works.Load() {
			return "fine", nil
		}
		return nil, errTest
	}
	inBubble(t, Config{}, h, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test"}`)
		require.Equal(t, dead, c.show(id).Status)
		works.Store(true)
		time.Sleep(90 * time.Minute)
		c.do(http.StatusAccepted, "POST /dead/"+id, "")
		j := c.show(id)
		require.Equal(t, done, j.Status)
		require.Equal(t, 1, j.Tries)
		require.Empty(t, j.Error)
		require.JSONEq(t, `[]`, c.do(http.StatusOK, "GET /dead", "").Body.String())
		time.Sleep(90 * time.Minute)
		c.show(id) // it is forgotten later than the dead one would have been
	})
}

// A panic ends only the try, not the queue.
func TestPanic(t *testing.T) {
	inBubble(t, Config{Tries: 2}, nil, func(t *testing.T, c *client) {
		bad := c.submit(`{"kind":"divide","input":[1]}`)
		worse := c.submit(`{"kind":"divide","input":[1,0]}`)
		good := c.submit(`{"kind":"divide","input":[6,2]}`)
		require.Equal(t, done, c.show(good).Status)
		time.Sleep(time.Minute)
		j := c.show(bad)
		require.Equal(t, dead, j.Status)
		require.Equal(t, 2, j.Tries)
		require.Contains(t, j.Error, "index out of range")
		require.Contains(t, c.show(worse).Error, "divide by zero")
	})
}

func TestGiveUp(t *testing.T) {
	inBubble(t, Config{Tries: 5}, nil, func(t *testing.T, c *client) {
		j := c.show(c.submit(`{"kind":"divide","input":"text"}`))
		require.Equal(t, dead, j.Status)
		require.Equal(t, 1, j.Tries)
	})
}

func TestWorkers(t *testing.T) {
	var running, all atomic.Int32
	h := func(context.Context, json.RawMessage) (any, error) {
		if running.Add(1) > 3 {
			t.Error("more jobs run than there are workers")
		}
		time.Sleep(time.Second)
		running.Add(-1)
		all.Add(1)
		return nil, nil
	}
	inBubble(t, Config{Workers: 3, Max: 10}, h, func(t *testing.T, c *client) {
		began := time.Now()
		var ids []string
		for range 10 {
			ids = append(ids, c.submit(`{"kind":"test"}`))
		}
		c.do(http.StatusServiceUnavailable, "POST /jobs", `{"kind":"test"}`)
		require.EqualValues(t, 3, running.Load())
		require.Equal(t, waiting, c.show(ids[9]).Status)
		time.Sleep(4*time.Second - time.Since(began))
		synctest.Wait()
		require.EqualValues(t, 10, all.Load(), "four rounds of three")
		for _, id := range ids {
			require.Equal(t, done, c.show(id).Status)
		}
		time.Sleep(3 * time.Hour)
		c.submit(`{"kind":"test"}`) // there is space again
		time.Sleep(time.Minute)
	})
}

// The deadline of a job ends it in whatever state it is.
func TestDeadline(t *testing.T) {
	ended := make(chan time.Time, 1)
	h := func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		ended <- time.Now()
		return nil, ctx.Err()
	}
	inBubble(t, Config{Tries: 5}, h, func(t *testing.T, c *client) {
		began := time.Now()
		runs := c.submit(`{"kind":"test","within":"10s"}`)
		waits := c.submit(`{"kind":"test","within":"5s"}`)
		time.Sleep(5 * time.Second)
		require.Equal(t, dead, c.show(waits).Status)
		require.Zero(t, c.show(waits).Tries)
		require.Equal(t, running, c.show(runs).Status)
		time.Sleep(5 * time.Second)
		j := c.show(runs)
		require.Equal(t, dead, j.Status)
		require.Contains(t, j.Error, "deadline")
		require.Equal(t, 10*time.Second, (<-ended).Sub(began))
	})
	inBubble(t, Config{Tries: 5}, fails, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test","within":"100ms"}`)
		require.Equal(t, retrying, c.show(id).Status)
		time.Sleep(time.Minute)
		j := c.show(id)
		require.Equal(t, dead, j.Status)
		require.Equal(t, 1, j.Tries)
		require.Equal(t, "not today; the deadline is over", j.Error)
	})
}

// A job that ignores its context is dead at its deadline, and others take its place.
func TestDeaf(t *testing.T) {
	h := func(context.Context, json.RawMessage) (any, error) {
		time.Sleep(time.Hour)
		return nil, nil
	}
	inBubble(t, Config{}, h, func(t *testing.T, c *client) {
		deaf := c.submit(`{"kind":"test","within":"1s"}`)
		other := c.submit(`{"kind":"divide","input":[4,2]}`)
		time.Sleep(time.Second)
		require.Equal(t, dead, c.show(deaf).Status)
		require.Equal(t, done, c.show(other).Status)
		time.Sleep(time.Hour) // its process has ended, but its function has not
		require.Equal(t, dead, c.show(deaf).Status)
	})
}

func TestCancel(t *testing.T) {
	var started, ended atomic.Int32
	h := func(ctx context.Context, _ json.RawMessage) (any, error) {
		started.Add(1)
		defer ended.Add(1)
		return blocks(ctx, nil)
	}
	inBubble(t, Config{}, h, func(t *testing.T, c *client) {
		runs, waits := c.submit(`{"kind":"test"}`), c.submit(`{"kind":"test"}`)
		c.do(http.StatusOK, "DELETE /jobs/"+waits, "")
		c.do(http.StatusOK, "DELETE /jobs/"+runs, "")
		require.Equal(t, cancelled, c.show(runs).Status)
		require.Equal(t, cancelled, c.show(waits).Status)
		require.EqualValues(t, 1, started.Load())
		require.EqualValues(t, 1, ended.Load())
		c.do(http.StatusConflict, "DELETE /jobs/"+runs, "")
	})
	inBubble(t, Config{Tries: 2}, fails, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test"}`)
		c.do(http.StatusOK, "DELETE /jobs/"+id, "")
		time.Sleep(time.Minute)
		j := c.show(id)
		require.Equal(t, cancelled, j.Status)
		require.Equal(t, 1, j.Tries)
	})
}

// A crash of the supervisor of the tries costs a try. A crash of the queue costs the jobs, and nothing else.
func TestCrashes(t *testing.T) {
	var tries atomic.Int32
	h := func(ctx context.Context, _ json.RawMessage) (any, error) {
		if tries.Add(1) == 1 {
			return blocks(ctx, nil)
		}
		return "fine", nil
	}
	inBubble(t, Config{Tries: 2}, h, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test"}`)
		c.n.Exit(workersName, node.Kill)
		time.Sleep(time.Minute)
		j := c.show(id)
		require.Equal(t, done, j.Status)
		require.Equal(t, 2, j.Tries)
	})
	inBubble(t, Config{}, blocks, func(t *testing.T, c *client) {
		id := c.submit(`{"kind":"test"}`)
		workers, _ := c.n.Whereis(workersName)
		c.n.Exit(queueName, node.Kill)
		c.do(http.StatusNotFound, "GET /jobs/"+id, "")
		synctest.Wait()
		require.False(t, c.n.IsAlive(workers), "what the old queue has started ends")
		good := c.submit(`{"kind":"divide","input":[6,2]}`)
		require.Equal(t, done, c.show(good).Status)
	})
}

func TestBadRequests(t *testing.T) {
	inBubble(t, Config{}, nil, func(t *testing.T, c *client) {
		for _, body := range []string{`{`, `{"kind":"none"}`, `{"kind":"divide","within":"soon"}`} {
			c.do(http.StatusBadRequest, "POST /jobs", body)
		}
		for _, request := range []string{"GET /jobs/none", "DELETE /jobs/none", "POST /dead/none"} {
			c.do(http.StatusNotFound, request, "")
		}
	})
}

// Drain waits for what runs, starts nothing, and says what is lost.
func TestDrain(t *testing.T) {
	h := func(context.Context, json.RawMessage) (any, error) {
		time.Sleep(time.Minute)
		return nil, nil
	}
	inBubble(t, Config{}, h, func(t *testing.T, c *client) {
		began := time.Now()
		c.submit(`{"kind":"test"}`)
		waits := c.submit(`{"kind":"test"}`)
		first := genserver.Async(c.n, queueName, Drain{})
		synctest.Wait()
		c.do(http.StatusServiceUnavailable, "POST /jobs", `{"kind":"test"}`)
		lost, err := node.Await(t.Context(), c.n, first)
		require.NoError(t, err)
		require.Equal(t, 1, lost)
		require.Equal(t, time.Minute, time.Since(began))
		require.Equal(t, waiting, c.show(waits).Status)
		lost, err = genserver.Call(t.Context(), c.n, queueName, Drain{})
		require.NoError(t, err)
		require.Equal(t, 1, lost)
	})
}

// program is the whole program with a job that runs.
type program struct {
	stop context.CancelFunc
	ran  chan error
}

func start(t *testing.T, h Handler) program {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	p := program{stop, make(chan error, 1)}
	go func() {
		p.ran <- run(ctx, l, Config{Handlers: map[string]Handler{"test": h}, Workers: 1, Max: 10, Tries: 1, Deadline: time.Hour})
	}()
	r, err := http.Post("http://"+l.Addr().String()+"/jobs", "application/json", strings.NewReader(`{"kind":"test"}`))
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusAccepted, r.StatusCode)
	return p
}

func TestRun(t *testing.T) {
	started, release := make(chan bool), make(chan bool)
	var ended atomic.Bool
	p := start(t, func(context.Context, json.RawMessage) (any, error) {
		close(started)
		<-release
		ended.Store(true)
		return nil, nil
	})
	<-started
	p.stop()
	close(release)
	require.NoError(t, <-p.ran)
	require.True(t, ended.Load())
}

func TestSupervisorEnds(t *testing.T) {
	answered := make(chan bool)
	p := start(t, func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-answered
		n, _, ok := node.Calling(ctx)
		if !ok {
			return nil, errors.New("no process works")
		}
		n.Exit(node.Atom("jobs"), node.Kill)
		return nil, nil
	})
	defer p.stop()
	close(answered)
	require.ErrorContains(t, <-p.ran, "the supervision tree has ended")
}

func TestFetch(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Write(make([]byte, 42))
	}))
	defer site.Close()
	length, err := fetch(t.Context(), json.RawMessage(`{"url":"`+site.URL+`/"}`))
	require.NoError(t, err)
	require.EqualValues(t, 42, length)
	_, err = fetch(t.Context(), json.RawMessage(`{"url":"`+site.URL+`/none"}`))
	require.ErrorContains(t, err, "404")
	require.NotErrorIs(t, err, ErrGiveUp)
	for _, input := range []string{`{`, `{"url":":"}`} {
		_, err = fetch(t.Context(), json.RawMessage(input))
		require.ErrorIs(t, err, ErrGiveUp)
	}
	site.Close()
	_, err = fetch(t.Context(), json.RawMessage(`{"url":"`+site.URL+`/"}`))
	require.Error(t, err)
}

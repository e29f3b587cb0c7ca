// Package suite has the tests of both programs of the example hour: they answer the same requests in the same way.
package suite

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// Settings are the Config of both programs.
type Settings struct {
	Rate  rate.Limit
	Burst int
	Idle  time.Duration
	Jobs  int
	Work  func(ctx context.Context, job string) (string, error)
}

// Program is what is tested.
type Program struct {
	// Start starts the service, which ends with the test.
	Start func(t *testing.T, s Settings) http.Handler
	// Run is the program without its flags.
	Run func(ctx context.Context, l net.Listener, s Settings) error
}

// Run tests a program.
func Run(t *testing.T, p Program) {
	tests := map[string]func(*testing.T, Program){
		"a client has a limit":                   limits,
		"a session counts until it is idle":      sessions,
		"no visit is lost":                       visits,
		"a job is tried again":                   retries,
		"a panic of a job fails the try":         panics,
		"a job too many is refused":              full,
		"a request has a deadline":               deadline,
		"a client that goes ends its job":        gone,
		"a bad request is answered":              bad,
		"sessions are counted":                   counted,
		"requests under way end before the stop": drain,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

// service is a started program.
type service struct {
	t *testing.T
	http.Handler
}

// inBubble tests a service in a bubble.
func inBubble(t *testing.T, p Program, s Settings, test func(t *testing.T, s service)) {
	if s.Rate == 0 {
		s.Rate, s.Burst = rate.Inf, 1
	}
	s.Idle = max(s.Idle, time.Minute)
	s.Jobs = max(s.Jobs, 1)
	synctest.Test(t, func(t *testing.T) { test(t, service{t, p.Start(t, s)}) })
}

// post makes a request and returns the status and the body of the answer.
func (s service) post(path, body string) (int, string) {
	return s.do(httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, strings.NewReader(body)))
}

func (s service) do(r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

// visited checks that a visit is the one with a number.
func (s service) visited(user string, visit int) {
	s.t.Helper()
	status, body := s.post("/visits/"+user, "")
	require.Equal(s.t, http.StatusOK, status)
	require.JSONEq(s.t, `{"visits":`+strconv.Itoa(visit)+`}`, body)
}

func limits(t *testing.T, p Program) {
	inBubble(t, p, Settings{Rate: 1, Burst: 3}, func(t *testing.T, s service) {
		for visit := range 3 {
			s.visited("ann", visit+1)
		}
		status, _ := s.post("/visits/ann", "")
		require.Equal(t, http.StatusTooManyRequests, status)

		other := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/visits/ann", nil)
		other.RemoteAddr = "192.0.2.2:1234"
		status, _ = s.do(other)
		require.Equal(t, http.StatusOK, status, "another client has a limit of its own")

		time.Sleep(time.Second)
		s.visited("ann", 5)
	})
}

func sessions(t *testing.T, p Program) {
	inBubble(t, p, Settings{Idle: time.Minute}, func(t *testing.T, s service) {
		for visit := range 10 {
			s.visited("ann", visit+1)
			time.Sleep(30 * time.Second)
		}
		s.visited("bob", 1)
		s.visited("ann", 11)
		time.Sleep(2 * time.Minute)
		s.visited("ann", 1)
	})
}

func visits(t *testing.T, p Program) {
	inBubble(t, p, Settings{}, func(t *testing.T, s service) {
		const n = 200
		var all sync.WaitGroup
		for range n {
			all.Go(func() { s.post("/visits/ann", "") })
		}
		all.Wait()
		s.visited("ann", n+1)
	})
}

func retries(t *testing.T, p Program) {
	var tries atomic.Int32
	work := func(_ context.Context, job string) (string, error) {
		tries.Add(1)
		fails, err := strconv.Atoi(job)
		if err != nil || int(tries.Load()) <= fails {
			return "", errors.New("not today")
		}
		return "done", nil
	}
	for _, c := range []struct {
		fails  string
		status int
		body   string
		took   time.Duration
	}{
		{"0", http.StatusOK, "done", 0},
		{"2", http.StatusOK, "done", 300 * time.Millisecond},
		{"3", http.StatusInternalServerError, "not today", 300 * time.Millisecond},
	} {
		tries.Store(0)
		inBubble(t, p, Settings{Work: work}, func(t *testing.T, s service) {
			began := time.Now()
			status, body := s.post("/jobs", c.fails)
			require.Equal(t, c.status, status, body)
			require.Equal(t, c.body, body)
			require.Equal(t, c.took, time.Since(began))
		})
	}
}

func panics(t *testing.T, p Program) {
	work := func(_ context.Context, job string) (string, error) {
		if job == "bad" {
			panic("a mistake")
		}
		return job, nil
	}
	inBubble(t, p, Settings{Work: work}, func(t *testing.T, s service) {
		status, body := s.post("/jobs", "bad")
		require.Equal(t, http.StatusInternalServerError, status)
		require.Contains(t, body, "a mistake")
		status, body = s.post("/jobs", "good")
		require.Equal(t, http.StatusOK, status, "its place is free")
		require.Equal(t, "good", body)
	})
}

func full(t *testing.T, p Program) {
	var release chan string // of the bubble
	var running atomic.Int32
	work := func(context.Context, string) (string, error) {
		running.Add(1)
		return <-release, nil
	}
	inBubble(t, p, Settings{Jobs: 2, Work: work}, func(t *testing.T, s service) {
		release = make(chan string)
		answers := make(chan string, 2)
		for range 2 {
			go func() {
				_, body := s.post("/jobs", "")
				answers <- body
			}()
		}
		synctest.Wait()
		require.EqualValues(t, 2, running.Load())
		status, body := s.post("/jobs", "")
		require.Equal(t, http.StatusServiceUnavailable, status, body)

		release <- "one"
		require.Equal(t, "one", <-answers)
		synctest.Wait()
		go s.post("/jobs", "")
		synctest.Wait()
		require.EqualValues(t, 3, running.Load(), "there is a place again")
		close(release)
		synctest.Wait()
	})
}

func deadline(t *testing.T, p Program) {
	ended := make(chan error, 1)
	work := func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}
	inBubble(t, p, Settings{Work: work}, func(t *testing.T, s service) {
		began := time.Now()
		status, body := s.post("/jobs", "")
		require.Equal(t, http.StatusGatewayTimeout, status, body)
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Error(t, <-ended)
	})
}

func gone(t *testing.T, p Program) {
	started, ended := make(chan bool, 1), make(chan error, 1)
	work := func(ctx context.Context, _ string) (string, error) {
		started <- true
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}
	inBubble(t, p, Settings{Work: work}, func(t *testing.T, s service) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() {
			s.do(httptest.NewRequestWithContext(ctx, http.MethodPost, "/jobs", nil))
			close(done)
		}()
		<-started
		cancel()
		<-done
		require.Error(t, <-ended)
		require.Empty(t, started, "it is not tried again")
	})
}

func bad(t *testing.T, p Program) {
	inBubble(t, p, Settings{}, func(t *testing.T, s service) {
		status, _ := s.do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/jobs", bytes.NewReader(make([]byte, 1<<20+1))))
		require.Equal(t, http.StatusBadRequest, status)
		noAddress := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/visits/ann", nil)
		noAddress.RemoteAddr = ""
		status, _ = s.do(noAddress)
		require.Equal(t, http.StatusBadRequest, status)
	})
}

func counted(t *testing.T, p Program) {
	inBubble(t, p, Settings{}, func(t *testing.T, s service) {
		s.visited("ann", 1)
		s.visited("bob", 1)
		status, body := s.do(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body+"\n", "\nhour_sessions 2\n")
	})
}

// drain tests the whole program, with a socket and real time.
func drain(t *testing.T, p Program) {
	started, release := make(chan bool), make(chan string)
	work := func(context.Context, string) (string, error) {
		close(started)
		return <-release, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		ran <- p.Run(ctx, l, Settings{Rate: rate.Inf, Burst: 1, Idle: time.Minute, Jobs: 1, Work: work})
	}()

	status := make(chan int, 1)
	go func() {
		r, err := http.Post("http://"+l.Addr().String()+"/jobs", "text/plain", nil)
		if err != nil {
			status <- 0
			return
		}
		r.Body.Close()
		status <- r.StatusCode
	}()
	<-started
	stop()
	require.Eventually(t, func() bool { // the listener is closed
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	}, time.Minute, time.Millisecond)
	release <- "done"
	require.Equal(t, http.StatusOK, <-status)
	require.NoError(t, <-ran)
}

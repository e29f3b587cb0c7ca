package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/health"
)

func get(h http.Handler, method, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, w.Body.String()
}

func TestHandler(t *testing.T) {
	var cluster, alive error
	h := health.Handler(health.Config{
		Checks: []health.Check{
			{Name: "node", Fail: func() error { return nil }},
			{Name: "cluster", Fail: func() error { return cluster }},
		},
		Alive: func(ctx context.Context) error {
			_, bounded := ctx.Deadline()
			assert.True(t, bounded)
			return alive
		},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "metrics") }),
	})
	is := func(path string, status int, body string) {
		t.Helper()
		code, got := get(h, "GET", path)
		assert.Equal(t, status, code, path)
		assert.Equal(t, body, got, path)
	}
	is("/livez", 200, "ok\n")
	is("/readyz", 200, "ok\n")
	is("/readyz?verbose", 200, `{"ready":true,"checks":[{"name":"node","ok":true},{"name":"cluster","ok":true}]}`+"\n")
	is("/metrics", 200, "metrics")
	cluster, alive = errors.New("alone"), errors.New("stuck")
	is("/livez", 503, "stuck\n")
	is("/readyz", 503, "health: not ready: cluster: alone\n")
	is("/readyz?verbose", 503, `{"ready":false,"checks":[{"name":"node","ok":true},{"name":"cluster","ok":false,"error":"alone"}]}`+"\n")
	is("/debug/pprof/", 404, "404 page not found\n")
	is("/", 404, "404 page not found\n")
	code, _ := get(h, "POST", "/readyz")
	assert.Equal(t, 405, code)
	code, _ = get(h, "HEAD", "/readyz")
	assert.Equal(t, 503, code)
	code, _ = get(health.Handler(health.Config{}), "GET", "/metrics")
	assert.Equal(t, 404, code)
	code, body := get(health.Handler(health.Config{Pprof: true}), "GET", "/debug/pprof/")
	assert.Equal(t, 200, code)
	assert.Contains(t, body, "goroutine")
}

// A server answers, and its stop waits for answers that are under way.
func TestServer(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	s, err := health.Start(health.Config{Listen: "127.0.0.1:0",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(began)
			<-release
			io.WriteString(w, "late")
		})})
	require.NoError(t, err)
	base := "http://" + s.Addr().String()
	r, err := http.Get(base + "/readyz?verbose")
	require.NoError(t, err)
	var state health.State
	require.NoError(t, json.NewDecoder(r.Body).Decode(&state))
	r.Body.Close()
	assert.Equal(t, health.State{Ready: true, Checks: []health.Result{}}, state)

	_, err = health.Start(health.Config{Listen: s.Addr().String()})
	require.ErrorContains(t, err, "cannot serve HTTP")

	late := make(chan string)
	go func() { // ends with the answer
		r, err := http.Get(base + "/metrics")
		if err != nil {
			late <- err.Error()
			return
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		late <- string(b)
	}()
	<-began
	stopped := make(chan error)
	go func() { stopped <- s.Stop(t.Context()) }()
	close(release)
	assert.Equal(t, "late", <-late)
	require.NoError(t, <-stopped)
	_, err = net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	require.Error(t, err)
}

// A request that does not end is ended when the time of Stop is up.
func TestStopIsBounded(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	s, err := health.Start(health.Config{Listen: "127.0.0.1:0", Alive: func(context.Context) error {
		close(began)
		<-release
		return nil
	}})
	require.NoError(t, err)
	go http.Get("http://" + s.Addr().String() + "/livez") // ended by Stop
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Stop(ctx), context.DeadlineExceeded)
}

// Connections that do nothing, or send their request slowly, lock out no client, and there are never more than the
// limit.
func TestConnectionsAreBounded(t *testing.T) {
	const most = 4
	held, hold := make(chan bool, most), make(chan bool)
	s, err := health.Start(health.Config{Listen: "127.0.0.1:0", Connections: most,
		HeaderTime: time.Hour, // no connection ends because its time is up
		Metrics:    http.HandlerFunc(func(http.ResponseWriter, *http.Request) { held <- true; <-hold })})
	require.NoError(t, err)
	defer s.Stop(t.Context())
	release := sync.OnceFunc(func() { close(hold) })
	defer release() // otherwise Stop would wait for the handlers
	dial := func(text string) net.Conn {
		conn, err := net.Dial("tcp", s.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, text)
		require.NoError(t, err)
		return conn
	}
	answered := func(conn net.Conn) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		b := make([]byte, 12)
		_, err := io.ReadFull(conn, b)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 200", string(b))
		open, max, _ := s.Use()
		require.LessOrEqual(t, open, max)
	}
	const livez = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, text := range []string{"", "GET /li", livez} { // silent, slow, idle
		for range 3 * most {
			conn := dial(text)
			if text == livez {
				answered(conn)
			}
		}
		answered(dial(livez))
	}
	_, _, closed := s.Use()
	require.GreaterOrEqual(t, closed, uint64(8*most))

	for range most {
		dial("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		<-held // only from then on the next connection does not close this one
	}
	waits := dial(livez)
	waits.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, err = waits.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "all are being answered: nobody is cut off")
	hold <- true
	answered(waits)
}

func TestTheCommandLineIsNotServed(t *testing.T) {
	h := health.Handler(health.Config{Pprof: true})
	code, _ := get(h, "GET", "/debug/pprof/")
	require.Equal(t, 200, code)
	code, body := get(h, "GET", "/debug/pprof/cmdline")
	require.Equal(t, 404, code)
	require.NotContains(t, body, os.Args[0])
}

package systemd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// manager is the socket of a service manager.
type manager struct{ *net.UnixConn }

// listen opens a socket with a name; "": any path.
func listen(t *testing.T, name string) (manager, string) {
	t.Helper()
	if name == "" {
		folder, err := os.MkdirTemp("", "sd") // the path of a socket must be short
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(folder) })
		name = filepath.Join(folder, "s")
	}
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Skipf("this system has no datagrams on Unix sockets, so none is sent: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return manager{c}, name
}

// next returns the next message.
func (m manager) next(t *testing.T) string {
	t.Helper()
	require.NoError(t, m.SetReadDeadline(time.Now().Add(testkit.Limit)))
	b := make([]byte, 4096)
	n, err := m.Read(b)
	require.NoError(t, err)
	return string(b[:n])
}

// service returns a Service with variables.
func service(t *testing.T, vars map[string]string) (*Service, *logtest.Text) {
	var log logtest.Text
	s := New(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(s.Close)
	return s, &log
}

func TestPhases(t *testing.T) {
	for _, name := range []string{"", "@actornode-test-" + strconv.Itoa(os.Getpid())} {
		m, name := listen(t, name)
		s, log := service(t, map[string]string{"NOTIFY_SOCKET": name})
		s.Reload(func() { s.Status("early") }) // the manager does not know of the start: no message about a reload
		assert.Equal(t, "STATUS=early", m.next(t))
		s.Ready("a@b is up\nas ever")
		s.Ready("again")
		assert.Equal(t, "READY=1\nSTATUS=a@b is up as ever", m.next(t))
		before, called := monotonic().Microseconds(), false
		s.Reload(func() { called = true })
		assert.True(t, called)
		reload := m.next(t)
		told := regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=(\d+)$`).FindStringSubmatch(reload)
		require.NotNil(t, told, reload)
		at, err := strconv.ParseInt(told[1], 10, 64)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, at, before)
		assert.LessOrEqual(t, at, monotonic().Microseconds())
		assert.Equal(t, "READY=1", m.next(t))
		s.Reload(func() { s.Stopping("draining", 32*time.Second) })
		assert.Contains(t, m.next(t), "RELOADING=1")
		assert.Equal(t, "STOPPING=1\nEXTEND_TIMEOUT_USEC=32000000\nSTATUS=draining", m.next(t))
		s.Stopping("again", time.Second)
		s.Ready("too late")
		s.Reload(func() {})
		s.Status("stopped")
		assert.Equal(t, "STATUS=stopped", m.next(t))
		assert.Empty(t, log.String())
	}
}

// The clock is the kernel's, not the process's.
func TestMonotonic(t *testing.T) {
	var now unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	assert.InDelta(t, float64(now.Nano()), float64(monotonic()), float64(testkit.Limit))
}

func TestFeed(t *testing.T) {
	m, name := listen(t, "")
	s, log := service(t, map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "20000",
		"WATCHDOG_PID": strconv.Itoa(os.Getpid())})
	require.Equal(t, 20*time.Millisecond, s.Watched())
	var dead atomic.Bool
	asked := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		s.Feed(ctx, func(ctx context.Context) error {
			_, limited := ctx.Deadline()
			assert.True(t, limited)
			if dead.Load() {
				select {
				case asked <- struct{}{}:
				default:
				}
				return errors.New("no answer")
			}
			return nil
		})
	}()
	for range 3 {
		assert.Equal(t, "WATCHDOG=1", m.next(t))
	}
	dead.Store(true)
	for range 3 { // between the first question and the third nothing is sent
		<-asked
	}
	require.NoError(t, m.SetReadDeadline(time.Now()))
	for b := make([]byte, 64); ; { // discard what was sent before
		if _, err := m.Read(b); err != nil {
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			break
		}
	}
	for range 3 {
		<-asked
	}
	s.Status("mark")
	assert.Equal(t, "STATUS=mark", m.next(t), "nothing came before it")
	assert.Regexp(t, "level=ERROR.*watchdog.*within=20ms error=\"no answer\"", log.String())
	assert.Len(t, regexp.MustCompile("level=ERROR").FindAllString(log.String(), -1), 1, "said once")
	dead.Store(false)
	assert.Equal(t, "WATCHDOG=1", m.next(t))
	dead.Store(true)
	s.Stopping("", time.Second) // from here on a stop is slow, not dead
	for said := m.next(t); said != "STOPPING=1\nEXTEND_TIMEOUT_USEC=1000000"; said = m.next(t) {
		require.Equal(t, "WATCHDOG=1", said)
	}
	assert.Equal(t, "WATCHDOG=1", m.next(t))
	cancel()
	<-done
}

func TestVariables(t *testing.T) {
	_, name := listen(t, "")
	for _, c := range []struct {
		socket, usec, pid string
		watched           time.Duration
		says              string
	}{
		{"", "1000", "", 0, ""},
		{name, "", "", 0, ""},
		{name, "1000", "", time.Millisecond, ""},
		{name, "1000", "1", 0, ""},
		{name, "0", "", 0, `WATCHDOG_USEC is \"0\": want a number of microseconds`},
		{name, "-5", "", 0, "want a number"},
		{name, "soon", "", 0, "want a number"},
		{name, "9223372036854775807", "", 0, "want a number"},
		{"vsock:2:1", "1000", "", 0, "want an absolute path"},
		{name + "none", "1000", "", 0, "no such file"},
	} {
		s, log := service(t, map[string]string{"NOTIFY_SOCKET": c.socket, "WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.pid})
		assert.Equal(t, c.watched, s.Watched(), c)
		if c.watched > 0 {
			continue
		}
		s.Feed(t.Context(), func(context.Context) error { return nil }) // returns: there is no watchdog to feed
		s.Ready("")
		s.Stopping("", 0)
		if c.says == "" {
			assert.Empty(t, log.String(), c)
		} else {
			assert.Contains(t, log.String(), c.says, c)
		}
	}
}

// A manager that does not read, or is gone, blocks no caller.
func TestManagerIsGone(t *testing.T) {
	m, name := listen(t, "")
	s, log := service(t, map[string]string{"NOTIFY_SOCKET": name})
	m.Close()
	s.Ready("up")
	assert.Contains(t, log.String(), "cannot tell the service manager something")

	_, name = listen(t, "")
	s, log = service(t, map[string]string{"NOTIFY_SOCKET": name})
	for i := 0; log.String() == ""; i++ { // until its queue is full
		require.Less(t, i, 1<<20)
		s.Status("status")
	}
	assert.Contains(t, log.String(), "timeout")
}

package command

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// notifications opens a socket in place of systemd's. The path of a socket must be short.
func notifications(t *testing.T) (path string, next func() string) {
	folder, err := os.MkdirTemp("", "sd")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	path = filepath.Join(folder, "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		t.Skipf("this system has no datagrams on Unix sockets, so no service manager is told anything: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return path, func() string {
		t.Helper()
		require.NoError(t, c.SetReadDeadline(time.Now().Add(testkit.Limit)))
		b := make([]byte, 4096)
		n, err := c.Read(b)
		require.NoError(t, err)
		return string(b[:n])
	}
}

// A daemon tells systemd that it is up, that it is alive, that it reads its configuration again, and that it ends.
func TestServiceManager(t *testing.T) {
	t.Parallel()
	path, next := notifications(t)
	p := begin(t, "drain_timeout: 20s\n", "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=200000").up()
	fed := 0
	after := func() string { // the next message that does not feed the watchdog
		for {
			if m := next(); m != "WATCHDOG=1" {
				return m
			}
			fed++
		}
	}
	assert.Equal(t, "READY=1\nSTATUS=go@127.0.0.1 is up at 127.0.0.1:"+p.port, after())
	for range 3 {
		assert.Equal(t, "WATCHDOG=1", next())
	}
	p.signal(syscall.SIGHUP)
	assert.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=\d+$`, after())
	assert.Equal(t, "READY=1", after())
	p.signal(syscall.SIGTERM)
	assert.Equal(t, "STOPPING=1\nEXTEND_TIMEOUT_USEC=65000000\nSTATUS=stopping", after())
	assert.Equal(t, "STATUS=draining", after())
	assert.Equal(t, "STATUS=drained", after())
	assert.Equal(t, exitOK, p.end(), p.log.String())
	assert.NotContains(t, p.log.String(), "service manager")
}

// A daemon that cannot start ends with an error and tells systemd nothing else.
func TestServiceManagerWithoutStart(t *testing.T) {
	t.Parallel()
	path, next := notifications(t)
	p := begin(t, "log: {format: json, file: /nowhere/log}\n", "NOTIFY_SOCKET="+path)
	assert.Equal(t, exitFailed, p.end())
	p = begin(t, "http: {listen: \"192.0.2.1:1\"}\n", "NOTIFY_SOCKET="+path, "ACTORNODE_HTTP_LISTEN=192.0.2.1:1")
	assert.Equal(t, exitFailed, p.end())
	assert.True(t, strings.HasPrefix(next(), "STOPPING=1\n"), "no READY=1 before it")
}

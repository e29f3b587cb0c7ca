package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// A daemon that starts without a cookie makes one, and all that start at the same time get the same; it is reported
// once, and no other file is left.
func TestMakeCookie(t *testing.T) {
	env, _, _ := newEnvironment(t, map[string]string{})
	home, _ := env.home()
	log := &logtest.Text{}
	var wg sync.WaitGroup
	got := make([]string, 16)
	for i := range got {
		wg.Go(func() {
			var err error
			got[i], err = daemonCookie(config.Default(), env, slog.New(slog.NewTextHandler(log, nil)))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Regexp(t, regexp.MustCompile(`^[A-Z]{20}$`), got[0])
	for _, c := range got {
		assert.Equal(t, got[0], c)
	}
	assert.Equal(t, 1, strings.Count(log.String(), "created a cookie file"))
	assert.NotContains(t, log.String(), got[0])
	files, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := files[0].Info()
	require.NoError(t, err)
	assert.Equal(t, ".erlang.cookie", info.Name())
	assert.EqualValues(t, 0o400, info.Mode())

	again, err := daemonCookie(config.Default(), env, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	assert.Equal(t, got[0], again)

}

// OTP reads the new cookie from the same file.
func TestErlangTakesCookie(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	env, _, _ := newEnvironment(t, map[string]string{})
	home, _ := env.home()
	cookie, err := daemonCookie(config.Default(), env, quiet)
	require.NoError(t, err)
	cmd := erltest.Command(t.Context(), t, erltest.Options{Args: []string{"-sname", "cookie", "-start_epmd", "false",
		"-dist_listen", "false",
		"-eval", `io:format("~s", [erlang:get_cookie()]), halt().`}})
	cmd.Env = append(cmd.Env, "HOME="+home)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, cookie, string(out))
}

// All letters are equally likely.
func TestNewCookie(t *testing.T) {
	seen := make(map[rune]int)
	for range 2600 {
		c := newCookie()
		require.Len(t, c, 20)
		for _, x := range c {
			seen[x]++
		}
	}
	require.Len(t, seen, 26)
	for x, k := range seen {
		assert.InDelta(t, 2000, k, 300, string(x)) // nearly seven standard deviations
	}
}

// We refuse the cookies that OTP refuses.
func TestReadCookie(t *testing.T) {
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string // in the error; "": none
	}{
		{"SECRET", 0o400, ""}, {"SECRET\r\n\n", 0o600, ""}, {"a b", 0o400, ""},
		{"SECRET", 0o440, "has mode 0440; want 0400 or 0600, so that only its owner can read it"},
		{"SECRET", 0o644, "has mode 0644"}, {"SECRET", 0o601, "has mode 0601"},
		{"", 0o400, "is empty"}, {"\n", 0o400, "is empty"},
		{"A\nB", 0o400, "printable ASCII"}, {"caf\u00e9", 0o400, "printable ASCII"}, {strings.Repeat("A", 300), 0o400, "255"},
	} {
		file := filepath.Join(t.TempDir(), "cookie")
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		require.NoError(t, os.Chmod(file, c.mode))
		got, err := environment{lookup: noVariables}.readCookie(file)
		if c.want == "" {
			assert.NoError(t, err, c.text)
			assert.Equal(t, strings.TrimRight(c.text, "\r\n"), got)
			continue
		}
		assert.ErrorIs(t, err, errNoCookie)
		assert.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "SECRET")
	}
	_, err := environment{lookup: noVariables}.readCookie(t.TempDir())
	assert.ErrorContains(t, err, "is not a regular file (d")
}

func noVariables(string) (string, bool) { return "", false }

// The group may read a credential of systemd, and no other file; others may read none.
func TestCredential(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	env, _, _ := newEnvironment(t, map[string]string{"CREDENTIALS_DIRECTORY": folder + "/"})
	for _, c := range []struct {
		folder string
		mode   os.FileMode
		ok     bool
	}{
		{folder, 0o400, true}, {folder, 0o440, true}, {folder, 0o444, false}, {folder, 0o460, false}, {folder, 0o450, false},
		{other, 0o400, true}, {other, 0o440, false}, {folder + "/../" + filepath.Base(other), 0o440, false},
	} {
		file := filepath.Join(c.folder, "cookie")
		require.NoError(t, os.WriteFile(file, []byte("SECRET\n"), 0o600))
		require.NoError(t, os.Chmod(file, c.mode))
		got, err := env.readCookie(c.folder + "/cookie")
		if c.ok {
			assert.NoError(t, err, c)
			assert.Equal(t, "SECRET", got)
		} else {
			assert.ErrorContains(t, err, "so that only its owner can read it", c)
		}
		require.NoError(t, os.Remove(file))
	}
}

// Two daemons that start at the same time without a cookie, in processes of their own, can talk to each other.
func TestCookieRace(t *testing.T) {
	home := t.TempDir()
	a, b := begin(t, "", "HOME="+home, "ACTORNODE_COOKIE="), begin(t, "", "HOME="+home, "ACTORNODE_COOKIE=")
	a.up()
	b.up()
	files, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Len(t, files, 1)
	for _, p := range []*program{a, b} {
		p.signal(syscall.SIGTERM)
		assert.Equal(t, exitOK, p.end())
	}
	assert.Equal(t, 1, strings.Count(a.log.String()+b.log.String(), "created a cookie file"))
}

// A command reads from a daemon's file what it needs to talk to the daemon.
func TestCommandsReadConfig(t *testing.T) {
	dir, port := t.TempDir(), reserve(t)
	cookie, file := filepath.Join(dir, "cookie"), filepath.Join(dir, "a.yaml")
	require.NoError(t, os.WriteFile(cookie, []byte("FROMFILE\n"), 0o400))
	files := certtest.New(t, "ca").Write(dir, certtest.Host("127.0.0.1"))
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "name: go@127.0.0.1\ncookie_file: cookie\ndemo: true\n"+
		"listen: {erlang: '127.0.0.1:%s'}\ndiscovery: {epmd: false, peers: {b@127.0.0.1: '127.0.0.1:1'}}\n"+
		"tls: {cert: %q, key: %q, ca: %q}\n", port, files.Cert, files.Key, files.CA), 0o600))
	env, out, errs := newEnvironment(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"start", "--config", file}, env) }()
	testkit.Until(t, func() string {
		if !strings.Contains(out.String(), "is up") {
			return "it is not up: " + errs.String()
		}
		return ""
	})
	ask, said, wrong := newEnvironment(t, nil)
	require.Equal(t, exitOK, run(t.Context(), []string{"call", "counter", "{add, 5}", "--config", file}, ask), wrong.String())
	require.Equal(t, "5\n", said.String())
	ask, _, wrong = newEnvironment(t, nil)
	require.Equal(t, exitCookie, run(t.Context(), []string{"ping", "--config", file, "--cookie", "OTHER"}, ask), wrong.String())
	ask, _, wrong = newEnvironment(t, nil)
	require.Equal(t, exitFailed, run(t.Context(), []string{"ping", "--config", filepath.Join(dir, "none")}, ask), wrong.String())
	stop()
	require.Equal(t, exitOK, <-ended, errs.String())
}

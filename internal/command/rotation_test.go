package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/certtest"
	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// The cookies that are used beside the one of now.
func TestClusterCookie(t *testing.T) {
	cfg := config.Default()
	cfg.OldCookies = []string{"x"}
	begin := time.Unix(1000, 0)
	c := &clusterCookie{now: "one"}
	assert.Empty(t, c.others(begin))
	c, changed := c.change("one", cfg, begin)
	assert.False(t, changed)
	assert.Equal(t, []string{"x"}, c.others(begin))
	c, changed = c.change("two", cfg, begin)
	assert.True(t, changed)
	assert.Equal(t, []string{"x", "one"}, c.others(begin.Add(time.Hour-1)))
	assert.Equal(t, []string{"x"}, c.others(begin.Add(time.Hour)))
	c, _ = c.change("two", cfg, begin.Add(time.Minute))
	assert.Equal(t, []string{"x", "one"}, c.others(begin.Add(time.Hour-1)), "read again, the same")
	cfg.CookieOverlap, cfg.OldCookies = 0, nil
	c, _ = c.change("three", cfg, begin)
	assert.Empty(t, c.others(begin))
}

// A running daemon takes over another cookie and other addresses of peers, and nothing of a file that cannot be used.
func TestReloadCookieAndPeers(t *testing.T) {
	p := newProgram(t)
	file, secret, log := filepath.Join(p.home, "a.yaml"), filepath.Join(p.home, "cookie"), filepath.Join(p.home, "a.log")
	write := func(more string) {
		text := fmt.Sprintf("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:%s\"}\nlog: {format: json, file: a.log}\n"+
			"cookie_file: cookie\n%s", p.port, more)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	cookie := func(c string) { require.NoError(t, os.WriteFile(secret, []byte(c), 0o600)) }
	const mesh = "discovery: {mesh: true, peers: {z@127.0.0.1: \"erlang://127.0.0.1:1\"}}\n" // nobody is there
	write(mesh)
	cookie("one")
	p.start(p.home, file, "ACTORNODE_COOKIE=")
	p.up()

	seen := 0 // bytes of the log that are of before
	hangUp := func(words ...string) {
		t.Helper()
		p.signal(syscall.SIGHUP)
		require.Eventually(t, func() bool {
			all, _ := os.ReadFile(log)
			text := string(all[seen:])
			for _, w := range words {
				if !strings.Contains(text, w) {
					return false
				}
			}
			seen = len(all)
			return true
		}, nodetest.Limit, 10*time.Millisecond, "%v", words)
	}
	to := &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{
		"go@127.0.0.1": {{Protocol: "erlang", Addr: "127.0.0.1:" + p.port}}}}
	began := 0
	accepts := func(cookie string) bool {
		t.Helper()
		began++
		n := nodetest.Start(t, node.Config{Name: node.Atom(fmt.Sprintf("n%d@127.0.0.1", began)),
			Distribution: &node.Distribution{Cookie: cookie, Listen: "-", Finder: to}})
		err := n.Connect(t.Context(), "go@127.0.0.1")
		require.NoError(t, n.Stop())
		if err != nil {
			require.ErrorIs(t, err, dist.ErrCookie)
		}
		return err == nil
	}
	require.True(t, accepts("one"))

	cookie("two")
	hangUp("the cookie has changed", `"changed":"cookie"`)
	require.True(t, accepts("two"))
	require.True(t, accepts("one"), "for cookie_overlap")
	require.False(t, accepts("three"))

	require.NoError(t, os.Chmod(secret, 0o644))
	hangUp("the configuration has errors: the old one stays as it is", "has mode 0644")
	require.NoError(t, os.Remove(secret))
	hangUp("the configuration has errors: the old one stays as it is", "does not exist")
	cookie("four")
	write(mesh + "tls: {cert: a.pem, key: a.pem, ca: a.pem}\n")
	hangUp("the configuration has errors: the old one stays as it is", "a.pem")
	require.True(t, accepts("two"))
	require.False(t, accepts("four"))

	const cookies = "old_cookies: [five]\ncookie_overlap: 0s\n"
	write(mesh + cookies)
	hangUp("the cookie has changed", `"changed":"old_cookies cookie_overlap cookie"`)
	require.True(t, accepts("four"))
	require.True(t, accepts("five"))
	require.False(t, accepts("two"))

	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "four",
		Listen: "127.0.0.1:0", Finder: &discovery.Static{}, Protocols: []dist.Protocol{new(erldist.Protocol)}}})
	write(fmt.Sprintf("discovery: {mesh: true, peers: {b@127.0.0.1: \"erlang://%s\"}}\n%s", b.Addr(), cookies))
	hangUp(`"changed":"discovery.peers"`)
	require.Eventually(t, func() bool { return len(b.Peers()) == 1 }, nodetest.Limit, 10*time.Millisecond, "the mesh")

	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

// A running daemon takes over other TLS files, and neither those that cannot be used nor the end of TLS.
func TestReloadTLS(t *testing.T) {
	p := newProgram(t)
	file, log := filepath.Join(p.home, "a.yaml"), filepath.Join(p.home, "a.log")
	files := make(map[string]certtest.Files)
	for _, ca := range []string{"one", "two"} {
		dir := filepath.Join(p.home, ca)
		require.NoError(t, os.Mkdir(dir, 0o700))
		files[ca] = certtest.New(t, ca).Write(dir, certtest.Host("127.0.0.1"))
	}
	write := func(f certtest.Files) {
		text := fmt.Sprintf("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:%s\"}\nlog: {format: json, file: a.log}\n", p.port)
		if f.Cert != "" {
			text += fmt.Sprintf("tls: {cert: %s, key: %s, ca: %s}\n", f.Cert, f.Key, f.CA)
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	seen := 0 // bytes of the log that are of before
	hangUp := func(says string) {
		t.Helper()
		p.signal(syscall.SIGHUP)
		require.Eventually(t, func() bool {
			all, _ := os.ReadFile(log)
			if !strings.Contains(string(all[seen:]), says) {
				return false
			}
			seen = len(all)
			return true
		}, nodetest.Limit, 10*time.Millisecond, says)
	}
	to := &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{
		"go@127.0.0.1": {{Protocol: "erlang", Addr: "127.0.0.1:" + p.port}}}}
	accepts := func(ca string) bool {
		t.Helper()
		f := files[ca]
		transport, err := tlsdist.New(tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA})
		require.NoError(t, err)
		n := nodetest.Start(t, node.Config{Name: node.Atom(ca + "@127.0.0.1"),
			Distribution: &node.Distribution{Cookie: "secret", Listen: "-", Finder: to, Transport: transport}})
		err = n.Connect(t.Context(), "go@127.0.0.1")
		require.NoError(t, n.Stop())
		return err == nil
	}
	write(files["one"])
	p.start(p.home, file)
	p.up()
	require.True(t, accepts("one"))
	require.False(t, accepts("two"))
	write(files["two"])
	hangUp(`"changed":"tls.cert tls.key tls.ca"`)
	require.True(t, accepts("two"))
	require.False(t, accepts("one"))
	write(certtest.Files{Cert: files["one"].Cert, Key: files["two"].Key, CA: files["one"].CA})
	hangUp("the configuration has errors: the old one stays as it is")
	require.True(t, accepts("two"))
	write(certtest.Files{})
	hangUp(`"settings":"tls.cert tls.key tls.ca"`)
	require.True(t, accepts("two"), "TLS begins and ends with the daemon")
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

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

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// The cookies that are used beside the current one.
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

// reloadingProgram is a daemon with the configuration a.yaml and the log a.log, which reads them again at SIGHUP.
type reloadingProgram struct {
	*program
	seen int // bytes of the log that were there before
}

func newReloadingProgram(t *testing.T) *reloadingProgram {
	return &reloadingProgram{program: newProgram(t)}
}

func (p *reloadingProgram) file() string { return filepath.Join(p.home, "a.yaml") }

// write writes the configuration; more has extra lines.
func (p *reloadingProgram) write(more string) {
	text := fmt.Sprintf("name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:%s\"}\nlog: {format: json, file: a.log}\n%s", p.port, more)
	require.NoError(p.t, os.WriteFile(p.file(), []byte(text), 0o600))
}

// hangUp sends SIGHUP and waits until words have been logged after that.
func (p *reloadingProgram) hangUp(words ...string) {
	p.t.Helper()
	p.signal(syscall.SIGHUP)
	eventually(p.t, fmt.Sprint(words), func() bool {
		all, _ := os.ReadFile(filepath.Join(p.home, "a.log"))
		text := string(all[p.seen:])
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		p.seen = len(all)
		return true
	})
}

// accepts connects a node to the daemon.
func (p *reloadingProgram) accepts(name node.Atom, d node.Distribution) error {
	p.t.Helper()
	d.Listen, d.Finder = "-", p.finder()
	n := nodetest.Start(p.t, node.Config{Name: name, Distribution: &d})
	err := n.Connect(p.t.Context(), "go@127.0.0.1")
	require.NoError(p.t, n.Stop())
	return err
}

// A running daemon takes over another cookie and other addresses of peers, and nothing from an invalid file.
func TestReloadCookieAndPeers(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	secret := filepath.Join(p.home, "cookie")
	cookie := func(c string) { require.NoError(t, os.WriteFile(secret, []byte(c), 0o600)) }
	const file = "cookie_file: cookie\n"
	const mesh = file + "discovery: {mesh: true, peers: {z@127.0.0.1: \"erlang://127.0.0.1:1\"}}\n" // no process listens there
	p.write(mesh)
	cookie("one")
	p.start(p.home, p.file(), "ACTORNODE_COOKIE=")
	p.up()

	began := 0
	accepts := func(cookie string) bool {
		t.Helper()
		began++
		err := p.accepts(node.Atom(fmt.Sprintf("n%d@127.0.0.1", began)), node.Distribution{Cookie: cookie})
		if err != nil {
			require.ErrorIs(t, err, dist.ErrCookie)
		}
		return err == nil
	}
	require.True(t, accepts("one"))

	cookie("two")
	p.hangUp("the cookie has changed", `"changed":"cookie"`)
	require.True(t, accepts("two"))
	require.True(t, accepts("one"), "for cookie_overlap")
	require.False(t, accepts("three"))

	require.NoError(t, os.Chmod(secret, 0o644))
	p.hangUp("the configuration has errors: the old one stays as it is", "has mode 0644")
	require.NoError(t, os.Remove(secret))
	p.hangUp("the configuration has errors: the old one stays as it is", "does not exist")
	cookie("four")
	p.write(mesh + "tls: {cert: a.pem, key: a.pem, ca: a.pem}\n")
	p.hangUp("the configuration has errors: the old one stays as it is", "a.pem")
	require.True(t, accepts("two"))
	require.False(t, accepts("four"))

	const cookies = "old_cookies: [five]\ncookie_overlap: 0s\n"
	p.write(mesh + cookies)
	p.hangUp("the cookie has changed", `"changed":"old_cookies cookie_overlap cookie"`)
	require.True(t, accepts("four"))
	require.True(t, accepts("five"))
	require.False(t, accepts("two"))

	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "four",
		Listen: "127.0.0.1:0", Finder: &discovery.Static{}, Protocols: []dist.Protocol{new(erldist.Protocol)}}})
	p.write(fmt.Sprintf(file+"discovery: {mesh: true, peers: {b@127.0.0.1: \"erlang://%s\"}}\n%s", b.Addr(), cookies))
	p.hangUp(`"changed":"discovery.peers"`)
	eventually(t, "the mesh", func() bool { return len(b.Peers()) == 1 })

	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

// A running daemon takes over other TLS files, but neither invalid ones nor the end of TLS.
func TestReloadTLS(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	files := make(map[string]certtest.Files)
	for _, ca := range []string{"one", "two"} {
		dir := filepath.Join(p.home, ca)
		require.NoError(t, os.Mkdir(dir, 0o700))
		files[ca] = certtest.New(t, ca).Write(dir, certtest.Host("127.0.0.1"))
	}
	write := func(f certtest.Files) {
		p.write(fmt.Sprintf("tls: {cert: %s, key: %s, ca: %s}\n", f.Cert, f.Key, f.CA))
	}
	accepts := func(ca string) bool {
		t.Helper()
		f := files[ca]
		transport, err := tlsdist.New(tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA})
		require.NoError(t, err)
		return p.accepts(node.Atom(ca+"@127.0.0.1"), node.Distribution{Cookie: "secret", Transport: transport}) == nil
	}
	write(files["one"])
	p.start(p.home, p.file())
	p.up()
	require.True(t, accepts("one"))
	require.False(t, accepts("two"))
	write(files["two"])
	p.hangUp(`"changed":"tls.cert tls.key tls.ca"`)
	require.True(t, accepts("two"))
	require.False(t, accepts("one"))
	write(certtest.Files{Cert: files["one"].Cert, Key: files["two"].Key, CA: files["one"].CA})
	p.hangUp("the configuration has errors: the old one stays as it is")
	require.True(t, accepts("two"))
	p.write("")
	p.hangUp(`"settings":"tls.cert tls.key tls.ca"`)
	require.True(t, accepts("two"), "TLS begins and ends with the daemon")
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

package command

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/epmd"
)

// fullDisk returns a folder where no file can be written.
func fullDisk(t *testing.T) string {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skip("NO FULL DISK: only root can mount one: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "full"), make([]byte, 4096), 0o600))
	require.ErrorIs(t, os.WriteFile(filepath.Join(dir, "more"), []byte("x"), 0o600), syscall.ENOSPC)
	require.NoError(t, os.Remove(filepath.Join(dir, "more")))
	return dir
}

// filesIn lists the files in a folder.
func filesIn(t *testing.T, dir string) (names []string) {
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// Errors in the program's input are reported with their place and a hint, and leave no half-done work.
func TestBadInput(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { taken.Close() })
	const base = "name: go@127.0.0.1\nlisten: {erlang: \"127.0.0.1:0\", native: \"127.0.0.1:0\"}\ncookie: secret\n"
	const app = "  - name: shop\n    supervisor: {children: [{name: a, start: \"demo:echo\"}]}\n"
	for _, c := range []struct {
		name   string
		args   []string // none: start with the file
		file   string   // the configuration
		vars   []string
		make   map[string]string // further files; a name that ends in / is a folder
		full   bool              // it runs on a full disk
		status exit
		says   []string
	}{
		{name: "no Go identifier", args: []string{"new", "2shop"}, status: exitUsage,
			says: []string{`"2shop": want a name of small letters, digits and _ that begins with a letter`}},
		{name: "a word of Go", args: []string{"new", "func"}, status: exitUsage,
			says: []string{`"func": a word of Go cannot be a name`}},
		{name: "an existing folder", args: []string{"new", "shop"}, make: map[string]string{"shop/": ""}, status: exitFailed,
			says: []string{"shop exists; want the name of a new folder"}},
		{name: "a project on a full disk", args: []string{"new", "shop"}, full: true, status: exitFailed,
			says: []string{"the project shop cannot be written, and nothing of it stays", "no space left on device"}},
		{name: "a cookie on a full disk", file: strings.Replace(base, "cookie: secret\n", "", 1), full: true, status: exitFailed,
			says: []string{".erlang.cookie", "no space left on device"}},
		{name: "no secret", file: strings.Replace(base, "cookie: secret", "cookie_file: key", 1), status: exitFailed,
			says: []string{"a.yaml:3:14: cookie_file: ", "key does not exist"}},
		{name: "a secret that all can read", file: strings.Replace(base, "cookie: secret", "cookie_file: key", 1),
			make: map[string]string{"key": "secret"}, status: exitFailed, says: []string{"key", "0644", "chmod 400"}},
		{name: "a secret that is a folder", file: strings.Replace(base, "cookie: secret", "cookie_file: key", 1),
			make: map[string]string{"key/": ""}, status: exitFailed, says: []string{"key is not a regular file"}},
		{name: "a port in use", file: strings.Replace(base, "127.0.0.1:0", taken.Addr().String(), 1), status: exitFailed,
			says: []string{taken.Addr().String(), "address already in use", "listen.erlang"}},
		{name: "a port for health checks in use", file: base + fmt.Sprintf("http: {listen: %q}\n", taken.Addr()), status: exitFailed,
			says: []string{taken.Addr().String(), "address already in use", "http.listen"}},
		{name: "an unknown section", file: base + "shop: {rate: 5}\n", status: exitFailed,
			says: []string{"a.yaml:4:1: shop: unknown field; allowed: name, "}},
		{name: "two applications with one name", file: base + "applications:\n" + app + app, status: exitFailed,
			says: []string{"a.yaml:7:11: applications[1].name: the name shop is already used by the application in line 5"}},
		{name: "a folder for the log that is not there", file: base + "log: {file: logs/a.log}\n", status: exitFailed,
			says: []string{"logs/a.log", "no such file or directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			if c.full {
				dir = fullDisk(t)
				home = dir
			}
			for name, text := range c.make {
				if folder, is := strings.CutSuffix(name, "/"); is {
					require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
				} else {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
				}
			}
			args := c.args
			if args == nil {
				file := filepath.Join(dir, "a.yaml")
				if c.full {
					file = filepath.Join(t.TempDir(), "a.yaml")
				}
				require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
				args = []string{"start", "--config", file}
			}
			mapper := epmdtest.Serve(t, "127.0.0.1")
			before := filesIn(t, dir)
			status, text := refused(t, dir, home, mapper, args...)
			assert.Equal(t, c.status, status, text)
			for _, words := range c.says {
				assert.Contains(t, text, words)
			}
			assert.Equal(t, before, filesIn(t, dir), "what is left")
			assert.NotContains(t, text, "is up")
			client, err := epmdclient.NewClient(mapper)
			require.NoError(t, err)
			names, err := client.Names(t.Context(), "127.0.0.1")
			require.NoError(t, err)
			assert.Empty(t, names, "registered with EPMD")
		})
	}
}

// refused runs the program, which must end by itself, and returns its exit status and its output.
func refused(t *testing.T, dir, home string, mapper epmd.Config, args ...string) (exit, string) {
	self, err := os.Executable()
	require.NoError(t, err)
	ctx := testkit.Context(t)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = dir
	cmd.Env = []string{asDaemon + "=1", "HOME=" + home, fmt.Sprint("ERL_EPMD_PORT=", mapper.Port), "ERL_EPMD_ADDRESS=127.0.0.1"}
	var out logtest.Text
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	require.NoError(t, ctx.Err(), out.String())
	return cmd.ProcessState.ExitCode(), out.String()
}

// A name that another node of the host has: the second node ends, and the first keeps the name.
func TestNameInUse(t *testing.T) {
	t.Parallel()
	mapper := epmdtest.Serve(t, "127.0.0.1")
	first := nodetest.Start(t, node.Config{Name: "go@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret",
		Listen: "127.0.0.1:0", Finder: &discovery.EPMD{Config: mapper}}})
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: go@127.0.0.1\ncookie: secret\n"), 0o600))
	dir := t.TempDir()
	status, text := refused(t, dir, dir, mapper, "start", "--config", file)
	assert.Equal(t, exitFailed, status)
	assert.Contains(t, text, "go@127.0.0.1")
	assert.Contains(t, text, "the name is already registered")
	assert.Contains(t, text, "choose another name")
	assert.Empty(t, filesIn(t, dir))
	other := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
		Finder: &discovery.EPMD{Config: mapper}}})
	require.NoError(t, other.Ping(testkit.Context(t), first.Name()))
}

// A file that has become invalid: the log says where, and the daemon goes on with the old configuration.
func TestReloadOfRubbish(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	const good = "allow: [\"demo:*\"]\n"
	p.write(good)
	p.start(p.home, p.file())
	p.up()
	for _, c := range []struct{ more, says string }{
		{"shop: [\"", "a.yaml:4"},
		{"allow: demo\n", "a.yaml:4:8: allow"},
		{"shop: {}\n", "a.yaml:4:1: shop: unknown field"},
		{"tls: {cert: none.pem, key: none.pem, ca: none.pem}\n", "none.pem: no such file or directory"},
		{"drain_timeout: soon\n", "a.yaml:4:16: drain_timeout"},
	} {
		p.write(c.more)
		p.hangUp("the configuration has errors: the old one stays as it is", c.says)
	}
	require.NoError(t, os.Remove(p.file()))
	p.hangUp("the configuration has errors: the old one stays as it is", "no such file or directory")
	require.NoError(t, p.accepts("a@127.0.0.1", node.Distribution{Cookie: "secret"}))
	p.write(good)
	p.hangUp(`"changed":""`)
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitOK, p.end(), p.log.String())
}

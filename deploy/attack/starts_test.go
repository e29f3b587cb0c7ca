package attack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
)

// files are the files that the configuration of a daemon names.
type files struct{ config, cookie, tree, cert, key, ca string }

// all returns the files by kind.
func (f *files) all() map[string]string {
	return map[string]string{"configuration": f.config, "cookie": f.cookie, "tree": f.tree, "certificate": f.cert, "key": f.key, "authority": f.ca}
}

// make writes the files, and makes a daemon start with them.
func (f *files) make(t testing.TB, o *raw.Options) {
	dir := t.TempDir()
	tls := certtest.New(t, "cluster").Write(dir, certtest.Host("127.0.0.1"))
	*f = files{filepath.Join(dir, "actornode.yaml"), filepath.Join(dir, "cookie"), filepath.Join(dir, "tree.yaml"), tls.Cert, tls.Key, tls.CA}
	write := func(file, format string, args ...any) {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o600))
	}
	write(f.cookie, "%s\n", raw.Cookie)
	write(f.tree, "supervisor: {name: empty, children: [{name: more, start: \"demo:echo\"}]}\n")
	write(f.config, "cookie_file: %q\ntree: %q\ntls: {cert: %q, key: %q, ca: %q}\n", f.cookie, f.tree, f.cert, f.key, f.ca)
	o.Args = append(o.Args, "--config", f.config)
	o.Env = append(o.Env, "ACTORNODE_COOKIE=")
}

// blocks makes a path lead to a pipe without a writer.
func blocks(t testing.TB, file string) {
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
}

// huge makes a path lead to a file of 1 GiB, which takes no space.
func huge(t testing.TB, file string) { require.NoError(t, os.Truncate(file, 1<<30)) }

// foreign gives a file to another user.
func foreign(t testing.TB, file string) { require.NoError(t, os.Chown(file, 65534, 65534)) }

// starts are attacks on the start of a daemon, on the files that it reads and on its end.
func starts() (rows []row) {
	for what := range new(files).all() {
		f := new(files)
		rows = append(rows, row{name: "files: SIGHUP, and then SIGTERM, where a pipe is read as the " + what, needs: []need{linux},
			alone: true, own: &raw.Options{Prepare: f.make}, attack: func(a *attempt) {
				blocks(a.T, f.all()[what])
				require.NoError(a, a.Signal(syscall.SIGHUP))
				if what != "tree" { // which is read only at the start
					a.until(testkit.Limit, func() bool {
						return strings.Contains(a.log(), "the configuration has errors: the old one stays as it is")
					}, "the daemon has said that it keeps its configuration")
				}
				require.NoError(a, a.Signal(syscall.SIGHUP))
				require.NoError(a, a.Signal(syscall.SIGTERM))
				select {
				case <-a.Ended():
					require.True(a, a.State().Success(), "%v: %s", a.State(), a.log())
				case <-testkit.Context(a.T).Done():
					require.Fail(a, "SIGTERM does not end it")
				}
			}, want: want{dies: true}})
	}
	attackStart := func(name string, spoil func(testing.TB, string), only string, needs ...need) {
		rows = append(rows, row{name: "files: a start with " + name, needs: append(needs, linux), alone: true, own: &raw.Options{},
			attack: func(a *attempt) {
				f := new(files)
				for what := range f.all() {
					if only != "" && what != only {
						continue
					}
					d, err := raw.TryStart(a.T, raw.Options{Name: "other@127.0.0.1", Bare: true, Within: testkit.Limit, Space: 4 << 20,
						Prepare: func(t testing.TB, o *raw.Options) {
							f.make(t, o)
							spoil(t, f.all()[what])
						}})
					require.Error(a, err, what)
					require.False(a, d.Lives(), "%s: it waits, and says nothing", what)
					require.Contains(a, d.Log(), filepath.Base(f.all()[what]), "%s: the file is named", what)
					require.NotContains(a, d.Log(), raw.Cookie)
				}
				if only == "cookie" || only == "" { // commands read that file, too
					file := filepath.Join(a.T.TempDir(), "cookie")
					require.NoError(a, os.WriteFile(file, []byte(raw.Cookie), 0o600))
					cmd := func() (string, error) {
						return a.commandWith([]string{"ACTORNODE_COOKIE=", "ACTORNODE_COOKIE_FILE=" + file}, "status --node "+string(a.Daemon.Name))
					}
					said, err := cmd()
					require.NoError(a, err, said)
					spoil(a.T, file)
					said, err = cmd()
					require.ErrorContains(a, err, "exit status 4", said)
					require.Contains(a, said, file)
				}
			}})
	}
	attackStart("pipes to which nobody writes", blocks, "")
	attackStart("files of 1 GiB", huge, "")
	attackStart("the cookie file of another user", foreign, "cookie", root)
	return append(rows, lostMapper(0), lostMapper(1), lostMapper(3))
}

// lostMapper returns a row in which the node that is the port mapper ends just when a daemon registers: it closes so
// many connections without an answer, and one after half of it.
func lostMapper(times int32) row {
	var met atomic.Int32
	return row{name: fmt.Sprintf("epmd: the node that is it ends while a daemon starts, which asks %d times more", times), own: &raw.Options{
		Prepare: func(t testing.TB, o *raw.Options) {
			o.EPMD = porttest.Reserve(t)
			ln, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", o.EPMD))
			require.NoError(t, err)
			t.Cleanup(func() { _ = ln.Close() })
			go func() { // until the listener is closed
				for {
					c, err := ln.Accept()
					if err != nil {
						return
					}
					conn := raw.NewConn(c.(*net.TCPConn))
					_, _ = conn.Next(3) // a length and an op
					last := met.Add(1) > times
					if last {
						_ = ln.Close()
						_ = conn.Send([]byte{118})
					}
					conn.Reset()
				}
			}()
		}},
		attack: func(a *attempt) {
			require.Greater(a, met.Load(), times, "it has asked the mapper that ended")
			a.found(testkit.Limit)
			a.servicesWork()
		}}
}

package cluster_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Five actornodes from the compose file, two OTP nodes and one Elixir node form one cluster.
func TestCluster(t *testing.T) {
	e := needEngine(t)
	otp, elixir := e.otpImage()
	s := e.newStack("ACTORNODE_IMAGE="+e.daemonImage(), "ACTORNODE_TICK_TIME=8s", "ERLANG_IMAGE="+otp)
	began := time.Now()
	s.up("node", 5)
	s.ready()
	t.Logf("five nodes are connected after %v", time.Since(began).Round(time.Millisecond))

	t.Run("container", s.testContainer)
	t.Run("otp", func(t *testing.T) { s.testOTP(t, otp, elixir) })
	t.Run("shell", func(t *testing.T) { s.testShell(t, otp) })
	t.Run("tls", s.testTLS)
	t.Run("project", s.testProject)
	t.Run("prometheus", func(t *testing.T) { s.testPrometheus(t, e.prometheusImage()) })
	t.Run("faults", s.testFaults)
	t.Run("commands", s.testCommands)
}

// What Docker shows of a container contains no cookie, and nothing in it can be written.
func (s *stack) testContainer(t *testing.T) {
	for _, c := range s.nodes {
		shown := s.run("inspect", c.id)
		assert.NotContains(t, shown, s.cookie)
		assert.Contains(t, shown, `"ReadonlyRootfs": true`)
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.pid))
		require.NoError(t, err)
		assert.NotContains(t, string(env), s.cookie)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^CapEff:\s+0+$`, string(status), "no capabilities")
		assert.Regexp(t, `(?m)^Uid:\s+65532\s`, string(status))
	}
	until(t, func() string {
		for _, c := range s.nodes {
			if health := s.run("inspect", "-f", "{{.State.Health.Status}}", c.id); health != "healthy" {
				return c.name + " is " + health
			}
		}
		return ""
	})
}

// otpImage makes an image of Debian's Erlang, and Elixir if it is installed; "": Debian's Erlang is not installed here.
func (e *engine) otpImage() (image string, elixir bool) {
	packages := []string{"erlang-base", "erlang-crypto"}
	elixir = exec.Command("dpkg", "-s", "elixir").Run() == nil
	if elixir {
		out, _ := exec.Command("dpkg-query", "-W", "-f", "${Package} ${Status}\n", "erlang-*").Output()
		packages = []string{"elixir"}
		for _, m := range regexp.MustCompile(`(?m)^(\S+) install ok installed`).FindAllStringSubmatch(string(out), -1) {
			packages = append(packages, m[1])
		}
	}
	files, ok := packaged(packages...)
	if !ok {
		return "", false
	}
	return e.imported("otp", files, "ENV PATH=/usr/bin:/usr/sbin LANG=C.UTF-8"), elixir
}

// erlang starts nodes of Erlang and Elixir, each in a container.
func (s *stack) erlang(t *testing.T, image string, elixir bool) (all []*container) {
	code := t.TempDir()
	out, err := exec.Command("erlc", "-o", code, "testdata/look.erl").CombinedOutput()
	require.NoError(t, err, string(out))
	const kernel = "-kernel inet_dist_listen_min 4370 inet_dist_listen_max 4370 net_ticktime 8"
	start := func(base, command string) {
		id := s.run("run", "-d", "--network", s.network(), "-e", "HOME=/tmp", "-v", code+":/code:ro", image, "sh", "-c",
			"umask 077; echo -n "+s.cookie+" >/tmp/.erlang.cookie; chmod 400 /tmp/.erlang.cookie; NAME="+base+
				"@$(hostname -i); exec "+command)
		all = append(all, s.look(id, base))
	}
	start("otp1", `erl -noinput -name $NAME -pa /code `+kernel)
	start("otp2", `erl -noinput -name $NAME -pa /code `+kernel)
	if elixir {
		start("ex1", `elixir --name $NAME --erl "-pa /code `+kernel+`" --no-halt -e 'IO.puts("up")'`)
	} else {
		t.Log("NO ELIXIR NODE: Debian's package elixir is not installed")
	}
	return all
}

// All nodes see each other, by names, links, monitors and groups.
func (s *stack) testOTP(t *testing.T, image string, elixir bool) {
	if image == "" {
		t.Skip(noOTP)
	}
	others := s.erlang(t, image, elixir)
	n := s.steer(t)
	ask := func(at *container, function wire.Atom, args ...any) (any, error) {
		return rpc.Call[any](testkit.Context(t), n, wire.Atom(at.name), "look", function, args...)
	}
	for _, o := range others {
		until(t, func() string {
			if err := n.Ping(testkit.Context(t), wire.Atom(o.name)); err != nil {
				return err.Error() + s.logs(o)
			}
			return ""
		})
		got, err := ask(o, "start")
		require.NoError(t, err, o.name)
		assert.EqualValues(t, o.name, got)
	}
	everyone := slices.Concat(s.nodes, others)
	for _, from := range others {
		for _, to := range everyone {
			kind := wire.Atom("otp")
			if slices.Contains(s.nodes, to) {
				kind = "go"
			}
			if from == to {
				continue
			}
			until(t, func() string { // a group is known a moment after the nodes have met
				wrong, err := ask(from, "check", wire.Atom(to.name), kind)
				if list, is := wrong.([]any); err == nil && (wrong == nil || is && len(list) == 0 || wire.Format(wrong) == "[]") {
					return ""
				}
				return fmt.Sprintf("%s sees wrong of %s: %s, %v", from.name, to.name, wire.Format(wrong), err)
			})
		}
	}
	for _, c := range s.nodes {
		got, err := ask(others[0], "join_on", wire.Atom(c.name), wire.Atom("cluster"))
		require.NoError(t, err)
		assert.Equal(t, wire.AtomOK, got, c.name)
	}
	var want []string
	for _, c := range everyone {
		want = append(want, c.name)
	}
	slices.Sort(want)
	for _, o := range others {
		until(t, func() string {
			got, err := ask(o, "members", wire.Atom("cluster"))
			if text := strings.NewReplacer("'", "", " ", "").Replace(wire.Format(got)); text != "["+strings.Join(want, ",")+"]" {
				return fmt.Sprintf("%s sees the members %s, %v; want %v", o.name, text, err, want)
			}
			return ""
		})
	}
	for _, c := range s.nodes { // and they see all others
		until(t, func() string {
			peers, err := c.peers()
			for _, o := range everyone {
				if o != c && !slices.Contains(peers, o.name) {
					return fmt.Sprintf("%s does not see %s but %v, %v", c.name, o.name, peers, err)
				}
			}
			return ""
		})
		for _, o := range others {
			out, err := c.cli("rpc", "--node", o.name, "erlang", "node")
			assert.NoError(t, err)
			assert.Contains(t, out, o.name)
		}
	}
	watch := nodetest.NewProbe(t, n) // links and monitors report a node that is gone
	watch.TrapExit(true)
	ref := watch.Monitor(node.At{Name: "looker", Node: wire.Atom(others[0].name)})
	s.run("kill", others[0].id)
	assert.Equal(t, wire.Atom("noconnection"), watch.ExpectDown(ref).Reason)
}

const noOTP = "not installed: Debian's erlang-base, for containers"

// The Erlang shell is connected to all nodes, and calls them.
func (s *stack) testShell(t *testing.T, image string) {
	if image == "" {
		t.Skip(noOTP)
	}
	out, err := s.shell(`F = fun F() -> length(nodes(connected)) < ` + strconv.Itoa(len(s.nodes)) + ` andalso
		receive after 50 -> F() end end, F(), io:format("~nAll ~p~n", [lists:sort(nodes(connected))]),
		[true = is_integer(gen_server:call({counter, N}, get)) || N <- nodes(connected)], halt().` + "\n")
	require.NoError(t, err, out)
	var names []string
	for _, c := range s.nodes {
		names = append(names, "'"+c.name+"'")
		assert.Contains(t, out, "true '"+c.name+"'")
	}
	slices.Sort(names)
	_, list, ok := strings.Cut(out, "\nAll ")
	list, _, _ = strings.Cut(list, "]")
	require.True(t, ok, out)
	assert.Equal(t, "["+strings.Join(names, ","), strings.Join(strings.Fields(list), ""))
}

// The nodes of the profile tls are a cluster that uses TLS only. A node without a certificate of its authority is
// refused.
func (s *stack) testTLS(t *testing.T) {
	x, files := s.startTLS(t, 3)
	dir, ca, leaf := files.dir, files.ca, files.leaf
	for _, c := range x.nodes {
		out, err := c.cli("call", "counter", "{add,2}")
		assert.NoError(t, err)
		assert.Equal(t, "2\n", out)
	}
	for _, port := range []string{"4370", "4371"} {
		at := x.nodes[0].ip + ":" + port
		pool := x509.NewCertPool()
		require.True(t, pool.AppendCertsFromPEM(ca.PEM))
		own, err := tls.LoadX509KeyPair(dir+"/cert.pem", dir+"/key.pem")
		require.NoError(t, err)
		strangers := certtest.New(t, "other").Write(t.TempDir(), leaf)
		strange, err := tls.LoadX509KeyPair(strangers.Cert, strangers.Key)
		require.NoError(t, err)
		for _, try := range []struct {
			certificate tls.Certificate
			ok          bool
		}{{own, true}, {strange, false}} {
			conn, err := tls.Dial("tcp", at, &tls.Config{RootCAs: pool, ServerName: "tls.example",
				Certificates: []tls.Certificate{try.certificate}})
			if err == nil { // in TLS 1.3 a client learns of the refusal when it reads
				wait := testkit.Limit
				if try.ok { // nothing comes
					wait = 500 * time.Millisecond
				}
				require.NoError(t, conn.SetDeadline(time.Now().Add(wait)))
				_, err = conn.Read(make([]byte, 1))
				conn.Close()
			}
			if refused := new(tls.AlertError); try.ok {
				assert.NotErrorAs(t, err, refused, port)
			} else {
				assert.ErrorContains(t, err, "tls: ", port)
			}
		}
	}
}

// notHere are commands that need no node, and are tested elsewhere.
var notHere = []string{"check", "cluster", "start", "new", "add", "vet", "completion"}

// Every command works on each node.
func (s *stack) testCommands(t *testing.T) {
	help, err := s.nodes[0].cli("help")
	require.NoError(t, err)
	_, list, _ := strings.Cut(help, "Usage:")
	list, _, _ = strings.Cut(list, "\nFlags:")
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(list, -1) {
		commands = append(commands, m[1])
	}
	require.Greater(t, len(commands), 20)
	for i, c := range s.nodes {
		other := s.nodes[(i+1)%len(s.nodes)]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			used := slices.Clone(notHere)
			var spawned string
			for _, x := range []struct{ command, want string }{
				{"help start", "Starts a node"}, {"version", "go1"}, {"probe", ""}, {"probe --live", ""},
				{"status", "State +ready"}, {"nodes", regexp.QuoteMeta(other.name)}, {"ps", "counter"}, {"tree", "demo.counter"},
				{"info counter", "counter"}, {"top --once", "counter"}, {"deadletters", ""}, {"ping", "pong|answers|ms|µs"},
				{"spawn demo counter", `\d+\.\d+\.`}, {"call PID {add,5}", "^5"}, {"register mine PID", ""}, {"call mine get", "^5"},
				{"send mine hello", ""}, {"unregister mine", ""}, {"kill PID", "killed"},
				{"rpc demo add 20 22", "^42"}, {"rpc --node " + other.name + " demo add 1 2", "^3"},
				{"log level debug", "debug"}, {"log level info", "info"},
				{"disconnect " + other.name, ""}, {"connect " + other.name, ""},
				{"waits", ""}, {"stack counter", "counter"}, {"profile goroutine", "goroutine profile of"},
			} {
				args := strings.Fields(strings.ReplaceAll(x.command, "PID", spawned))
				used = append(used, args[0])
				out, err := c.cli(args...)
				if !assert.NoError(t, err, x.command) {
					continue
				}
				assert.Regexp(t, x.want, out, x.command)
				if args[0] == "spawn" {
					spawned = strings.TrimSpace(out)
				}
			}
			out, _ := c.cli("doctor", "--for", "500ms", "--no-profile") // exit status 10 for what the others do to it
			assert.Contains(t, out, "examined: ")
			used = append(used, "doctor")
			traced := make(chan string, 1)
			go func() { // ends with its result
				out, err := c.cli("trace", "counter", "--max", "1")
				traced <- fmt.Sprint(out, err)
			}()
			until(t, func() string {
				_, err := c.cli("call", "counter", "get")
				select {
				case out := <-traced:
					assert.Contains(t, out, "get")
					return ""
				default:
					return fmt.Sprint("no trace; ", err)
				}
			})
			used = append(used, "trace", "drain", "stop") // the last two are faults, see rolling
			for _, command := range commands {
				assert.Contains(t, used, command, "it is not tried in a container")
			}
		})
	}
}

package node_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// setUp is how long a handshake may take: longer than the tests wait for anything, so no test passes by waiting for
// that timeout.
const setUp = testkit.Limit

// secure starts a Go node with a certificate.
func secure(t *testing.T, name string, finder discovery.Finder, f certtest.Files, d node.Distribution) (*node.Node, *logtest.Text) {
	t.Helper()
	files := &logtest.Text{}
	tr, err := tlsdist.New(tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA, Timeout: setUp, Log: files.Logger()})
	require.NoError(t, err)
	d.Transport, d.Finder, d.Timing.ConnectTimeout, d.Limits.Link.Timeout = tr, finder, setUp, setUp
	return otpPeer(t, name, d)
}

// verifies are the options of OTP's client that check our certificate.
const verifies = "{verify, verify_peer}, {versions, ['tlsv1.3', 'tlsv1.2']}"

// otpTLS writes the options for an Erlang node's files and returns its arguments. more applies to both roles; certs is
// false for a client that shows no certificate.
func otpTLS(t *testing.T, dir, more string, certs bool) []string {
	t.Helper()
	own := fmt.Sprintf("{certfile, %q}, {keyfile, %q}, ", dir+"/cert.pem", dir+"/key.pem")
	common := fmt.Sprintf("{cacertfile, %q}, %s", dir+"/ca.pem", more)
	client := own
	if !certs {
		client = ""
	}
	file := t.TempDir() + "/ssl_dist.conf"
	require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf("[{server, [%s%s, {fail_if_no_peer_cert, true}]},\n {client, [%s%s]}].\n",
		own, common, client, common)), 0o600))
	return []string{"-proto_dist", "inet_tls", "-ssl_dist_optfile", file, "-kernel", "inet_dist_use_interface", "{127,0,0,1}",
		"-kernel", "net_setuptime", fmt.Sprint(setUp.Seconds())}
}

// forget makes an Erlang node read its PEM files anew.
const forget = "gen_server:call(ssl_pem_cache_dist, {unconditionally_clear_pem_cache, self()}, infinity)"

// Each node dials the other, with every choice of versions in OTP.
func TestOTPTLS(t *testing.T) {
	needOTP(t, true)
	ca := certtest.New(t, "ca")
	for what, options := range map[string]string{
		"1.3":     "{verify, verify_peer}, {versions, ['tlsv1.3']}",
		"1.2":     "{verify, verify_peer}, {versions, ['tlsv1.2']}",
		"either":  verifies,
		"default": "{verify, verify_peer}",
	} {
		t.Run(what, func(t *testing.T) {
			port, finder := otpMapper(t, "127.0.0.1")
			ours, theirs := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
			ca.Write(theirs, certtest.Host("127.0.0.1"))
			n, _ := secure(t, "go@127.0.0.1", finder, ours, node.Distribution{})
			o := startOTP(t, port, "-name", "e@127.0.0.1", otpTLS(t, theirs, options, true)...)
			o.bothWays(n)
		})
	}
}

// Short names that are no addresses: certificates are for the host.
func TestOTPTLSShortNames(t *testing.T) {
	needOTP(t, true)
	ca := certtest.New(t, "ca")
	port, finder := otpMapper(t, "127.0.0.1")
	ours, theirs := ca.Write(t.TempDir(), certtest.Host("localhost")), t.TempDir()
	ca.Write(theirs, certtest.Host("localhost"))
	n, log := secure(t, "go@localhost", finder, ours, node.Distribution{})
	o := startOTP(t, port, "-sname", "e@localhost", otpTLS(t, theirs, verifies, true)...)
	o.bothWays(n)

	// OTP's certificate is for another host now: we refuse it when we dial, and when its node dials.
	require.Equal(t, "true", o.Ask("erlang:disconnect_node('%s')", n.Name()))
	o.alone(n)
	ca.Write(theirs, certtest.Host("elsewhere"))
	o.Ask(forget)
	err := n.Ping(testkit.Context(t), o.name)
	require.ErrorContains(t, err, "this node refused the certificate of e@localhost at localhost:")
	require.ErrorContains(t, err, "for elsewhere")
	require.ErrorContains(t, err, "it is not for the host localhost")
	o.Log.Await(t, "Bad Certificate")
	log.Take()
	require.Equal(t, "false", o.Ask("net_kernel:connect_node('%s')", n.Name()))
	log.Await(t, "named itself e@localhost, but its certificate")
	log.Await(t, "is not for the host localhost")
	ca.Write(theirs, certtest.Host("localhost"))
	o.Ask(forget)

	// Our certificate is for another host: they refuse it.
	ca.Write(dirOf(ours), certtest.Host("elsewhere"))
	log.Take()
	require.Equal(t, "false", o.Ask("net_kernel:connect_node('%s')", n.Name()))
	log.Await(t, "refused the TLS connection with the alert")
	log.Await(t, "it is not valid for localhost, the name that the peer connects to")
}

func dirOf(f certtest.Files) string { return f.Cert[:len(f.Cert)-len("/cert.pem")] }

// A node with an unusable certificate is refused, by whichever side notices first, and nobody hangs.
func TestOTPTLSRefused(t *testing.T) {
	needOTP(t, true)
	ca, other := certtest.New(t, "ca"), certtest.New(t, "other")
	good := certtest.Host("127.0.0.1")
	expired := good
	expired.From, expired.Until = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
	servers := good
	servers.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, version := range []string{"tlsv1.3", "tlsv1.2"} {
		t.Run(version, func(t *testing.T) {
			port, finder := otpMapper(t, "127.0.0.1")
			ours, theirs := ca.Write(t.TempDir(), good), t.TempDir()
			ca.Write(theirs, good)
			n, log := secure(t, "go@127.0.0.1", finder, ours, node.Distribution{})
			o := startOTP(t, port, "-name", "e@127.0.0.1", otpTLS(t, theirs, "{verify, verify_peer}, {versions, ['"+version+"']}", true)...)
			for _, c := range []struct {
				what string
				with func()
				dial string // what we say when we dial
				take string // what we log when they do
			}{
				{"their authority is another, which we do not know", func() {
					other.Write(theirs, good)
					require.NoError(t, os.WriteFile(theirs+"/ca.pem", ca.PEM, 0o600))
				}, "no authority in " + ours.CA + " signed it", "no authority in " + ours.CA + " signed it"},
				{"theirs has expired", func() { ca.Write(theirs, expired) },
					"it has expired or is not valid yet", "it has expired or is not valid yet"},
				{"they do not know our authority", func() {
					require.NoError(t, os.WriteFile(theirs+"/ca.pem", other.PEM, 0o600))
				}, `refused the TLS connection with the alert "unknown certificate authority"; this node's certificate (` + ours.Cert,
					`refused the TLS connection with the alert \"unknown certificate authority\"; this node's certificate (` + ours.Cert},
				{"ours is for servers only", func() { ca.Write(dirOf(ours), servers) }, `refused the TLS connection with the alert "`, ""},
				{"all is well again", func() {}, "", ""},
			} {
				ca.Write(theirs, good)
				ca.Write(dirOf(ours), good)
				c.with()
				o.Ask(forget)
				log.Take()
				err := n.Ping(testkit.Context(t), o.name)
				if c.dial == "" {
					require.NoError(t, err, c.what)
				} else {
					require.ErrorContains(t, err, c.dial, c.what)
				}
				o.Ask("erlang:disconnect_node('%s')", n.Name())
				o.alone(n)
				answer := o.Ask("net_kernel:connect_node('%s')", n.Name())
				if c.take == "" {
					require.Equal(t, "true", answer, c.what)
				} else {
					require.Equal(t, "false", answer, c.what)
					log.Await(t, c.take)
				}
				o.Ask("erlang:disconnect_node('%s')", n.Name())
				o.alone(n)
			}
		})
	}
}

// A client without a certificate, and one without TLS.
func TestOTPTLSNoCertificate(t *testing.T) {
	needOTP(t, true)
	ca := certtest.New(t, "ca")
	port, finder := otpMapper(t, "127.0.0.1")
	ours, theirs := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
	ca.Write(theirs, certtest.Host("127.0.0.1"))
	n, log := secure(t, "go@127.0.0.1", finder, ours, node.Distribution{})
	for i, version := range []string{"tlsv1.3", "tlsv1.2"} {
		o := startOTP(t, port, "-name", fmt.Sprintf("e%d@127.0.0.1", i), otpTLS(t, theirs, "{verify, verify_peer}, {versions, ['"+version+"']}", false)...)
		log.Take()
		require.Equal(t, "false", o.Ask("net_kernel:connect_node('%s')", n.Name()))
		log.Await(t, "presented no certificate, but every node needs one")
		require.NoError(t, n.Ping(testkit.Context(t), o.name), "its server has one")
		o.talk(n)
	}
	o := startOTP(t, port, "-name", "f@127.0.0.1", "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-kernel", "net_setuptime", "1")
	log.Take()
	require.Equal(t, "false", o.Ask("net_kernel:connect_node('%s')", n.Name()))
	log.Await(t, "does not speak TLS")
	err := n.Ping(testkit.Context(t), o.name)
	require.ErrorContains(t, err, "may not speak TLS")

	// Only they use TLS: nobody connects, or hangs.
	plain, log := otpPeer(t, "plain@127.0.0.1", node.Distribution{Finder: finder,
		Limits: node.Limits{Link: dist.LinkLimits{Timeout: time.Second}}})
	e := startOTP(t, port, "-name", "g@127.0.0.1", otpTLS(t, theirs, verifies, true)...)
	require.NotErrorIs(t, plain.Ping(testkit.Context(t), e.name), context.DeadlineExceeded)
	require.Equal(t, "false", e.Ask("net_kernel:connect_node('%s')", plain.Name()))
	log.Await(t, "refused an incoming connection")
}

// New files count for new connections; existing ones go on.
func TestOTPTLSReload(t *testing.T) {
	needOTP(t, true)
	ca, next := certtest.New(t, "ca"), certtest.New(t, "next")
	port, finder := otpMapper(t, "127.0.0.1")
	ours, theirs := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
	ca.Write(theirs, certtest.Host("127.0.0.1"))
	n, log := secure(t, "go@127.0.0.1", finder, ours, node.Distribution{})
	o := startOTP(t, port, "-name", "e@127.0.0.1", otpTLS(t, theirs, verifies, true)...)
	require.NoError(t, n.Ping(testkit.Context(t), o.name))
	next.Write(dirOf(ours), certtest.Host("127.0.0.1"))
	late := t.TempDir()
	next.Write(late, certtest.Host("127.0.0.1"))
	p := startOTP(t, port, "-name", "late@127.0.0.1", otpTLS(t, late, verifies, true)...)
	require.NoError(t, n.Ping(testkit.Context(t), p.name), "the new certificate")
	p.talk(n)
	o.talk(n)
	assert.NotContains(t, log.String(), "node down", "the connection is the one before")
	o.Ask("erlang:disconnect_node('%s')", n.Name())
	testkit.UntilTrue(t, func() bool { return len(n.AllNodes()) == 1 }, "the other connection alone is left")
	require.ErrorContains(t, n.Ping(testkit.Context(t), o.name), "no authority in")
	p.talk(n)
}

// After much data OTP renews keys, in 1.3, and renegotiates, in 1.2. Go cannot renegotiate if OTP has dialled: then
// there is a new connection.
func TestOTPTLSRenewal(t *testing.T) {
	needOTP(t, true)
	ca := certtest.New(t, "ca")
	for _, c := range []struct {
		what, options string
		lost          bool // the connection that OTP dialled
	}{
		{"1.3", "{verify, verify_peer}, {versions, ['tlsv1.3']}, {key_update_at, 200000}", false},
		{"1.2", "{verify, verify_peer}, {versions, ['tlsv1.2']}, {renegotiate_at, 50}", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			port, finder := otpMapper(t, "127.0.0.1")
			ours, theirs := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
			ca.Write(theirs, certtest.Host("127.0.0.1"))
			n, log := secure(t, "go@127.0.0.1", finder, ours, node.Distribution{})
			o := startOTP(t, port, "-name", "e@127.0.0.1", otpTLS(t, theirs, c.options, true)...)
			const much = "[catch gen_server:call({echo, '%s'}, binary:copy(<<7>>, 30000)) || _ <- lists:seq(1, 100)], ok"
			require.NoError(t, n.Ping(testkit.Context(t), o.name))
			require.Equal(t, "ok", o.Ask(much, n.Name()))
			assert.NotContains(t, log.String(), "node down")
			o.Ask("erlang:disconnect_node('%s')", n.Name())
			o.alone(n)
			down := func() bool { return strings.Contains(log.String(), "node down") }
			testkit.UntilTrue(t, down, "our node has lost the connection")
			log.Take()
			require.Equal(t, "true", o.Ask("net_kernel:connect_node('%s')", n.Name()))
			require.Equal(t, "ok", o.Ask(much, n.Name()))
			if c.lost {
				testkit.UntilTrue(t, down, "our node has lost the connection")
			} else {
				assert.False(t, down(), "%s", log)
			}
			testkit.UntilTrue(t, func() bool { return n.Ping(testkit.Context(t), o.name) == nil }, "they are connected again")
		})
	}
}

// TLS without EPMD, and over IPv6.
func TestOTPTLSElsewhere(t *testing.T) {
	needOTP(t, true)
	ca := certtest.New(t, "ca")
	ours, theirs := ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), t.TempDir()
	ca.Write(theirs, certtest.Host("127.0.0.2"))
	port := porttest.Reserve(t)
	n, _ := secure(t, "go@127.0.0.1", &discovery.Static{Port: port}, ours, node.Distribution{Listen: fmt.Sprint("127.0.0.1:", port)})
	o := startOTP(t, 0, "-name", "e@127.0.0.2", append(otpTLS(t, theirs, verifies, true)[:4],
		"-erl_epmd_port", strconv.Itoa(port), "-kernel", "inet_dist_use_interface", "{127,0,0,2}")...)
	o.bothWays(n)

	port, finder := otpMapper(t, "::1")
	ours = ca.Write(t.TempDir(), certtest.Host("::1"))
	ca.Write(theirs, certtest.Host("::1"))
	n, _ = secure(t, "go@::1", finder, ours, node.Distribution{})
	o = startOTP(t, port, "-name", "e@::1", append(otpTLS(t, theirs, verifies, true)[2:4],
		"-proto_dist", "inet6_tls", "-kernel", "inet_dist_use_interface", "{0,0,0,0,0,0,0,1}")...)
	o.bothWays(n)
}

// Two Go nodes over TLS, each with its own host name; and a stop while a silent client is being accepted.
func TestTLSBetweenNodes(t *testing.T) {
	ca := certtest.New(t, "ca")
	places := &clustertest.Places{}
	a, _ := secure(t, "a@127.0.0.1", places, ca.Write(t.TempDir(), certtest.Host("127.0.0.1")), node.Distribution{})
	b, log := secure(t, "b@localhost.localdomain", places, ca.Write(t.TempDir(), certtest.Host("localhost.localdomain")),
		node.Distribution{Listen: "127.0.0.1:0"})
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
	v, err := node.Call[int](testkit.Context(t), b, node.At{Name: "echo", Node: a.Name()}, 5)
	require.NoError(t, err)
	assert.Equal(t, 5, v)
	log.Await(t, "node up")

	silent, err := net.Dial("tcp", b.Addr().String())
	require.NoError(t, err)
	defer silent.Close()
	again, err := net.Dial("tcp", b.Addr().String()) // accepted after the silent one
	require.NoError(t, err)
	_, _ = again.Write([]byte("nonsense"))
	log.Await(t, "does not speak TLS")
	again.Close()
	stopped := make(chan error, 1)
	go func() { stopped <- b.Stop() }()
	require.NoError(t, testkit.Receive(t, stopped), "it waits for nobody who says nothing")
}

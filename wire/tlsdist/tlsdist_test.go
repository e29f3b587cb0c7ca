package tlsdist_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/tlsdist"
)

// side is a transport with its files.
type side struct {
	*tlsdist.Transport
	dir string
	log *logtest.Text
}

// newSide makes a transport. change may change its Config; nil leaves it as it is.
func newSide(t *testing.T, a *certtest.Authority, l certtest.Leaf, change func(*tlsdist.Config)) side {
	s := side{dir: t.TempDir(), log: &logtest.Text{}}
	f := a.Write(s.dir, l)
	cfg := tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA, Log: s.log.Logger()}
	if change != nil {
		change(&cfg)
	}
	var err error
	s.Transport, err = tlsdist.New(cfg)
	require.NoError(t, err)
	return s
}

// end is the result at one end of a connection.
type end struct {
	conn net.Conn
	got  string
	err  error // from dialling, reading or vouching
}

// meet makes dialler connect to listener, sends a word in each direction, and makes the listener vouch for the peer
// that claims to be name.
func meet(t *testing.T, dialler, listener dist.Transport, peer, name wire.Atom) (a, b end) {
	t.Helper()
	ln, err := listener.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return meetAt(t, dialler, ln, peer, name)
}

// meetAt is meet with an existing listener.
func meetAt(t *testing.T, dialler dist.Transport, ln net.Listener, peer, name wire.Atom) (a, b end) {
	t.Helper()
	done := make(chan end, 1)
	go func() { // ends with the connection
		c, err := ln.Accept()
		if err != nil {
			done <- end{err: err}
			return
		}
		e := say(c)
		if v, ok := c.(dist.Voucher); ok && e.err == nil {
			e.err = v.Vouch(name)
		}
		done <- e
	}()
	c, err := dialler.Dial(t.Context(), ln.Addr().String(), peer)
	if err != nil {
		a.err = err
	} else {
		a = say(c)
	}
	select {
	case b = <-done:
	case <-time.After(2 * testkit.Limit):
		t.Fatal("the side that was dialled hangs")
	}
	for _, e := range []end{a, b} {
		if e.conn != nil {
			t.Cleanup(func() { _ = e.conn.Close() })
		}
	}
	return a, b
}

func say(c net.Conn) (e end) {
	e.conn = c
	_ = c.SetDeadline(time.Now().Add(testkit.Limit))
	if _, e.err = c.Write([]byte("hello")); e.err == nil {
		b := make([]byte, 5)
		_, e.err = io.ReadFull(c, b)
		e.got = string(b)
	}
	if e.err != nil {
		_ = c.Close()
	}
	return e
}

func TestBothWays(t *testing.T) {
	a := certtest.New(t, "ca")
	for _, c := range []struct {
		host string
		leaf certtest.Leaf
	}{
		{"db.example", certtest.Host("db.example")},
		{"db", certtest.Host("db")},
		{"x.example", certtest.Host("*.example")},
		{"10.0.0.7", certtest.Host("10.0.0.7")},
		{"10.0.0.7", certtest.Leaf{IPs: []string{"10.0.0.7"}}},
		{"10.0.0.7", certtest.Leaf{DNS: []string{"10.0.0.7"}}},
		{"::1", certtest.Leaf{IPs: []string{"::1"}}},
		{"::1", certtest.Leaf{DNS: []string{"::1"}}},
	} {
		for _, min := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			s := newSide(t, a, c.leaf, func(cfg *tlsdist.Config) { cfg.MinVersion = min })
			x, y := meet(t, s, s, wire.Atom("there@"+c.host), wire.Atom("here@"+c.host))
			require.NoError(t, x.err, c.host)
			require.NoError(t, y.err, c.host)
			assert.Equal(t, "hello", x.got+y.got[5:])
			state := x.conn.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState()
			assert.Equal(t, uint16(tls.VersionTLS13), state.Version)
			assert.False(t, state.DidResume)
			x, _ = meet(t, s, s, wire.Atom("there@"+c.host), wire.Atom("here@"+c.host))
			state = x.conn.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState()
			assert.False(t, state.DidResume)
		}
	}
}

// Connections that are refused, and what each side reports.
func TestRefused(t *testing.T) {
	ours, other := certtest.New(t, "ca"), certtest.New(t, "other")
	old := certtest.Host("db.example")
	old.From, old.Until = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	then := func(cfg *tlsdist.Config) { cfg.Now = func() time.Time { return old.From.Add(time.Hour) } }
	server, client := certtest.Host("db.example"), certtest.Host("db.example")
	server.Usages, client.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	good := newSide(t, ours, certtest.Host("db.example"), nil)
	for _, c := range []struct {
		what     string
		bad      side
		dialled  string // what good reports after dialling
		accepted string // what good reports after it was dialled
		alert    string // what bad reports then, in both cases
	}{
		{"another authority", newSide(t, other, certtest.Host("db.example"), nil),
			"no authority in " + good.dir + "/ca.pem signed it", "no authority in", ""},
		{"expired", newSide(t, ours, old, then), "it has expired or is not valid yet", "it has expired or is not valid yet", ""},
		{"another host", newSide(t, ours, certtest.Host("web.example"), nil),
			`"CN=web.example" for web.example, by "CN=ca"`, "is not for the host db.example", ""},
		{"of servers only", newSide(t, ours, server, nil), "", "incompatible key usage", `the alert "bad certificate"`},
		{"of clients only", newSide(t, ours, client, nil), "incompatible key usage", "", `the alert "bad certificate"`},
	} {
		t.Run(c.what, func(t *testing.T) {
			a, b := meet(t, good, c.bad, "x@db.example", "y@db.example")
			if c.dialled == "" {
				assert.NoError(t, a.err)
			} else {
				require.ErrorContains(t, a.err, "tlsdist: this node refused the certificate of x@db.example at 127.0.0.1:")
				require.ErrorContains(t, a.err, c.dialled)
				require.ErrorContains(t, b.err, `the alert "bad certificate"; this node's certificate (`+c.bad.dir+"/cert.pem) is")
			}
			b, a = meet(t, c.bad, good, "x@db.example", "y@db.example")
			switch c.what {
			case "another authority": // bad is the one that refuses
				require.ErrorContains(t, b.err, "no authority in "+c.bad.dir)
				require.ErrorContains(t, a.err, `the alert "bad certificate"; this node's certificate (`+good.dir)
				return
			case "expired":
				require.ErrorContains(t, b.err, "is not valid yet") // because its clock is wrong
				return
			}
			if c.accepted == "" {
				assert.NoError(t, a.err)
				return
			}
			require.ErrorContains(t, a.err, c.accepted)
			require.ErrorContains(t, a.err, "tlsdist: ")
			if c.alert != "" {
				require.ErrorContains(t, b.err, c.alert)
				require.ErrorContains(t, b.err, `tlsdist: `)
				require.ErrorContains(t, b.err, `the alert "bad certificate"`)
			}
		})
	}
	lax := newSide(t, ours, certtest.Host("db.example"), func(c *tlsdist.Config) { c.AnyHost = true })
	web := newSide(t, ours, certtest.Host("web.example"), nil)
	a, b := meet(t, web, lax, "x@db.example", "y@db.example")
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	_, b = meet(t, web, good, "x@db.example", "y@web.example")
	require.NoError(t, b.err)
}

// A client presents a certificate without knowing that it has expired; TLS 1.3 reports the refusal late.
func TestExpiredClient(t *testing.T) {
	ca := certtest.New(t, "ca")
	leaf := certtest.Host("db.example")
	leaf.Until = time.Now().Add(-30 * time.Minute)
	past := time.Now().Add(-45 * time.Minute)
	slow := newSide(t, ca, leaf, func(c *tlsdist.Config) { c.Now = func() time.Time { return past } })
	good := newSide(t, ca, certtest.Host("db.example"), nil)
	for range 20 { // the alert must not be lost, whoever is faster
		a, b := meet(t, slow, good, "x@db.example", "y@db.example")
		require.ErrorContains(t, b.err, "it has expired or is not valid yet")
		require.ErrorContains(t, a.err, `x@db.example at 127.0.0.1:`)
		require.ErrorContains(t, a.err, `refused the TLS connection with the alert "expired certificate"; this node's certificate (`)
	}
}

// naked is TLS without a certificate.
type naked struct {
	dist.TCP
	roots *x509.CertPool
}

func (n naked) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	c, err := n.TCP.Dial(ctx, addr, peer)
	if err != nil {
		return nil, err
	}
	return tls.Client(c, &tls.Config{RootCAs: n.roots, ServerName: "db.example"}), nil
}

func TestNoCertificateNoTLSNoWord(t *testing.T) {
	ca := certtest.New(t, "ca")
	short := func(c *tlsdist.Config) { c.Timeout = 50 * time.Millisecond }
	good, hasty := newSide(t, ca, certtest.Host("db.example"), nil), newSide(t, ca, certtest.Host("db.example"), short)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(ca.PEM))
	a, b := meet(t, naked{roots: roots}, good, "x@db.example", "y@db.example")
	require.ErrorContains(t, b.err, "presented no certificate, but every node needs one")
	require.ErrorContains(t, a.err, "certificate required")

	_, b = meet(t, dist.TCP{}, good, "x@db.example", "y@db.example")
	require.ErrorContains(t, b.err, `does not speak TLS: it sent "hello"`)
	a, _ = meet(t, good, dist.TCP{}, "x@db.example", "y@db.example")
	require.ErrorContains(t, a.err, "x@db.example at 127.0.0.1:")
	require.ErrorContains(t, a.err, "does not speak TLS")

	for _, first := range []string{"", "\x16\x03\x01\x01"} { // nothing, and the beginning of a handshake
		ln, err := hasty.Listen(t.Context(), "127.0.0.1:0")
		require.NoError(t, err)
		silent, err := net.Dial("tcp", ln.Addr().String())
		require.NoError(t, err)
		_, _ = silent.Write([]byte(first))
		c, err := ln.Accept()
		require.NoError(t, err)
		_, err = c.Read(make([]byte, 1))
		require.ErrorContains(t, err, "did not finish within 50ms: the peer may not speak TLS")
		_, err = c.Write([]byte("x"))
		require.ErrorContains(t, err, "did not finish within 50ms", "the handshake is not tried again")
		require.NoError(t, silent.Close())
		require.NoError(t, ln.Close())
	}

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	_, err = hasty.Dial(t.Context(), ln.Addr().String(), "x@db.example")
	require.ErrorContains(t, err, "the TLS handshake with x@db.example at 127.0.0.1:")
	require.ErrorContains(t, err, "did not finish within 50ms")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = good.Dial(ctx, ln.Addr().String(), "x@db.example")
	require.ErrorIs(t, err, context.Canceled)
	go func() { // ended by ln.Close at the latest
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, err = good.Dial(t.Context(), ln.Addr().String(), "x@db.example")
	require.ErrorContains(t, err, "during the TLS handshake")
	require.NotErrorIs(t, err, io.EOF)
}

func TestOldVersion(t *testing.T) {
	ca := certtest.New(t, "ca")
	new13 := newSide(t, ca, certtest.Host("db.example"), func(c *tlsdist.Config) { c.MinVersion = tls.VersionTLS13 })
	ln, err := new13.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	go func() { // ends with the handshake
		_, _ = tls.Dial("tcp", ln.Addr().String(), &tls.Config{MaxVersion: tls.VersionTLS12, InsecureSkipVerify: true})
	}()
	c, err := ln.Accept()
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.ErrorContains(t, err, "client offered only unsupported versions")
}

func TestFilesChange(t *testing.T) {
	ca, next := certtest.New(t, "ca"), certtest.New(t, "next")
	s := newSide(t, ca, certtest.Host("one.example"), nil)
	require.Empty(t, s.log.Take())
	first, other := meet(t, s, s, "x@one.example", "y@one.example")
	require.NoError(t, first.err)
	ca.Write(s.dir, certtest.Host("two.example"))
	a, _ := meet(t, s, s, "x@one.example", "y@one.example")
	require.ErrorContains(t, a.err, "it is not for the host one.example")
	assert.Contains(t, s.log.Take(), "the TLS files changed and were reloaded; new connections use them")
	a, _ = meet(t, s, s, "x@two.example", "y@two.example")
	require.NoError(t, a.err)
	require.Empty(t, s.log.Take())
	said := make(chan end, 1)
	go func() { said <- say(other.conn) }() // ends with the answer
	require.NoError(t, say(first.conn).err, "connections that there are go on")
	require.NoError(t, (<-said).err)

	// A broken file is not used, and is reported once.
	cert, key := next.Make(certtest.Host("three.example"))
	old, err := os.ReadFile(s.dir + "/cert.pem")
	require.NoError(t, err)
	oldKey, err := os.ReadFile(s.dir + "/key.pem")
	require.NoError(t, err)
	gone := certtest.Host("three.example")
	gone.Until = time.Now().Add(-time.Minute)
	expired, expiredKey := ca.Make(gone)
	late := certtest.Host("three.example")
	late.From = time.Now().Add(time.Hour)
	early, earlyKey := ca.Make(late)
	for _, c := range []struct{ cert, key, ca, says string }{
		{string(cert), string(oldKey), string(ca.PEM), "private key does not match public key"},
		{string(old), "", string(ca.PEM), "it contains no PEM block of a private key"},
		{string(old), string(oldKey), "nonsense", "/ca.pem: it contains no PEM block of a certificate"},
		{string(old), string(oldKey), string(oldKey), "/ca.pem: it contains no PEM block of a certificate"},
		{string(key), string(key), string(ca.PEM), "/cert.pem: it contains no PEM block of a certificate"},
		{string(expired), string(expiredKey), string(ca.PEM), "it expired on "},
		{string(early), string(earlyKey), string(ca.PEM), "it is not valid before "},
		{string(old), "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", string(ca.PEM),
			"the key is encrypted"},
		{string(old), string(oldKey), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "x509: malformed"},
	} {
		for name, text := range map[string]string{"cert": c.cert, "key": c.key, "ca": c.ca} {
			require.NoError(t, os.WriteFile(s.dir+"/"+name+".pem", []byte(text), 0o600))
		}
		for i := range 2 {
			a, _ = meet(t, s, s, "x@two.example", "y@two.example")
			require.NoError(t, a.err)
			if log := s.log.Take(); i == 0 {
				assert.Contains(t, log, "the changed TLS files are invalid: the previous certificate stays in use")
				assert.Contains(t, log, c.says)
				assert.Contains(t, log, "for two.example")
			} else {
				assert.Empty(t, log)
			}
		}
	}
	require.NoError(t, os.Remove(s.dir+"/key.pem"))
	a, _ = meet(t, s, s, "x@two.example", "y@two.example")
	require.NoError(t, a.err)
	assert.Contains(t, s.log.Take(), "no such file")
	next.Write(s.dir, certtest.Host("three.example"))
	a, _ = meet(t, s, s, "x@three.example", "y@three.example")
	require.NoError(t, a.err)
	assert.Contains(t, s.log.Take(), "were reloaded")
}

// After Replace a listener and later dials use the files of the other transport; existing connections stay.
func TestReplace(t *testing.T) {
	const name = "go@db.example"
	oldCA, freshCA := certtest.New(t, "old"), certtest.New(t, "fresh")
	x, old, fresh := newSide(t, oldCA, certtest.Host("db.example"), nil), newSide(t, oldCA, certtest.Host("db.example"), nil),
		newSide(t, freshCA, certtest.Host("db.example"), nil)
	ln, err := x.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	a, b := meetAt(t, old, ln, name, name)
	require.NoError(t, errors.Join(a.err, b.err))
	c, d := meetAt(t, fresh, ln, name, name)
	require.Error(t, errors.Join(c.err, d.err))

	x.Replace(fresh.Transport)
	c, d = meetAt(t, fresh, ln, name, name)
	require.NoError(t, errors.Join(c.err, d.err))
	c, d = meetAt(t, old, ln, name, name)
	require.Error(t, errors.Join(c.err, d.err))
	c, d = meet(t, x, fresh, name, name)
	require.NoError(t, errors.Join(c.err, d.err), "it dials with them, too")
	_, err = a.conn.Write([]byte("again"))
	require.NoError(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(b.conn, got)
	require.NoError(t, err)
	require.Equal(t, "again", string(got), "a connection of before")
}

func TestConfig(t *testing.T) {
	ca := certtest.New(t, "ca")
	f := ca.Write(t.TempDir(), certtest.Host("x"))
	for _, c := range []struct {
		cfg  tlsdist.Config
		says string
	}{
		{tlsdist.Config{Key: f.Key}, "the file for Cert (this node's certificate), CA (the authorities"},
		{tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA, Timeout: -1}, "Timeout is negative"},
		{tlsdist.Config{Cert: f.Cert, Key: f.Key, CA: f.CA, MinVersion: tls.VersionTLS11}, "MinVersion is TLS 1.1"},
		{tlsdist.Config{Cert: f.Cert + "x", Key: f.Key, CA: f.CA}, "cert.pemx: no such file"},
	} {
		_, err := tlsdist.New(c.cfg)
		require.ErrorContains(t, err, "tlsdist: ")
		require.ErrorContains(t, err, c.says)
	}
	l := certtest.Host("x")
	l.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	s := newSide(t, ca, l, nil)
	assert.Contains(t, s.log.Take(), "is not for clientAuth: nodes that this node connects to will refuse it")
}

// The Erlang handshake over TLS: lengths of four bytes, and what it says of errors.
func TestErlangHandshake(t *testing.T) {
	ca, other := certtest.New(t, "ca"), certtest.New(t, "other")
	good, bad := newSide(t, ca, certtest.Host("db"), nil), newSide(t, other, certtest.Host("db"), nil)
	both := newSide(t, ca, certtest.Host("db"), nil) // trusts both authorities, is trusted by one
	cert, key := other.Make(certtest.Host("db"))
	require.NoError(t, os.WriteFile(both.dir+"/cert.pem", cert, 0o600))
	require.NoError(t, os.WriteFile(both.dir+"/key.pem", key, 0o600))
	p := &erldist.Protocol{}
	cookies := func(wire.Atom) (string, string) { return "c", "c" }
	shake := func(dialler, listener side) (a, b error) {
		ln, err := listener.Listen(t.Context(), "127.0.0.1:0")
		require.NoError(t, err)
		defer ln.Close()
		done := make(chan error, 1)
		go func() { // ends with the handshake
			c, err := ln.Accept()
			if err == nil {
				var l dist.Link
				if l, err = p.Accept(t.Context(), c, dist.Handshake{Local: wire.NodeID{Name: "b@db", Creation: 1},
					Cookies: cookies}); err == nil {
					_ = l.Read(new(dist.Frame))
					_ = l.Close()
				}
			}
			done <- err
		}()
		c, a := dialler.Dial(t.Context(), ln.Addr().String(), "b@db")
		if a == nil {
			var l dist.Link
			if l, a = p.Dial(t.Context(), c, dist.Handshake{Local: wire.NodeID{Name: "a@db", Creation: 1}, Peer: "b@db",
				Cookies: cookies}); a == nil {
				_ = l.Close()
			}
		}
		return a, <-done
	}
	a, b := shake(good, good)
	require.NoError(t, a)
	require.NoError(t, b)
	a, b = shake(good, bad)
	require.ErrorContains(t, a, "no authority in")
	require.ErrorContains(t, b, `the alert "bad certificate"`)
	a, b = shake(both, good)
	require.ErrorContains(t, a, `b@db at 127.0.0.1:`)
	require.ErrorContains(t, a, `refused the TLS connection with the alert "unknown certificate authority"; this node's certificate (`+both.dir)
	require.ErrorContains(t, b, "no authority in "+good.dir)
}

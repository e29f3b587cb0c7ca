package tlsdist

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Transport is a [dist.Transport] that makes TLS connections. Nodes may share it. The errors of its connections wrap errors
// of packages tls, x509 and os.
type Transport struct{ now atomic.Pointer[maker] }

var (
	_ dist.Transport = (*Transport)(nil)
	_ dist.Chooser   = (*Transport)(nil)
	_ dist.Encrypter = (*Transport)(nil)
)

// maker makes connections with one Config.
type maker struct {
	cfg   Config
	files store
}

// New returns a Transport with the files of a Config. The error says which file is invalid, and why.
func New(cfg Config) (*Transport, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	m := &maker{cfg: cfg}
	m.files.cfg = &m.cfg
	if _, err := m.files.load(); err != nil {
		return nil, &failure{text: err.Error(), cause: err}
	}
	m.files.warn()
	t := new(Transport)
	t.now.Store(m)
	return t, nil
}

// Replace makes new connections, including those that listeners accept, use the Config of another transport. Existing
// connections and listeners stay. [Config].Under of both must be the same.
func (t *Transport) Replace(by *Transport) { t.now.Store(by.now.Load()) }

// Dial implements [dist.Transport]. When it returns, the peer has proved that it has a certificate for the host of its
// name. In TLS 1.3 only the first Read shows whether the peer accepts this node's certificate.
func (t *Transport) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	return t.DialFor(ctx, otp, addr, peer)
}

// otp is the protocol of nodes that may renegotiate, in TLS 1.2. Without renegotiation the nodes can prove that they share
// the connection, which other protocols require.
const otp = "erlang"

// DialFor implements [dist.Chooser].
func (t *Transport) DialFor(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error) {
	return t.now.Load().dial(ctx, protocol, addr, peer)
}

func (m *maker) dial(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error) {
	raw, err := m.cfg.Under.Dial(ctx, addr, peer)
	if err != nil {
		return nil, err
	}
	c := &conn{by: m, raw: raw, host: hostOf(peer), peer: string(peer) + " at " + addr}
	c.ours.Store(m.files.current())
	cfg := m.clientConfig(c)
	if protocol == otp {
		cfg.Renegotiation = tls.RenegotiateFreelyAsClient
	}
	c.Conn = tls.Client(raw, cfg)
	if err := c.handshake(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Encrypts implements [dist.Encrypter].
func (t *Transport) Encrypts() bool { return true }

// Listen implements [dist.Transport].
func (t *Transport) Listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := t.now.Load().cfg.Under.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &listener{ln, t}, nil
}

// listener accepts connections before their handshake.
type listener struct {
	net.Listener
	t *Transport
}

func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	m := l.t.now.Load()
	c := &conn{by: m, raw: raw, server: true, peer: "the node at " + raw.RemoteAddr().String()}
	c.Conn = tls.Server(raw, m.serverConfig(c))
	return c, nil
}

// config returns the configuration common to both sides.
func (m *maker) config(c *credentials) *tls.Config {
	return &tls.Config{
		Time: m.cfg.Now, MinVersion: m.cfg.MinVersion,
		Certificates: []tls.Certificate{c.cert}, RootCAs: c.roots, ClientCAs: c.roots,
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
	}
}

// serverConfig uses the credentials at the time of the peer's first message.
func (m *maker) serverConfig(c *conn) *tls.Config {
	return &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		c.host = hello.ServerName
		ours := m.files.current()
		c.ours.Store(ours)
		cfg := m.config(ours)
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
		return cfg, nil
	}}
}

func (m *maker) clientConfig(c *conn) *tls.Config {
	ours := c.ours.Load()
	cfg := m.config(ours)
	cfg.ServerName = c.host
	// The list of authorities in the peer's request could suppress the certificate; the peer should report itself why it
	// refuses it.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &ours.cert, nil }
	if isAddress(c.host) {
		cfg.InsecureSkipVerify = true // because VerifyConnection verifies both kinds of names
		cfg.VerifyConnection = func(s tls.ConnectionState) error { return verify(s.PeerCertificates, cfg, c.host) }
	}
	return cfg
}

// verify does what package tls does for a client, except for the kinds of names.
func verify(chain []*x509.Certificate, cfg *tls.Config, host string) error {
	o := x509.VerifyOptions{Roots: cfg.RootCAs, CurrentTime: cfg.Time(), Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(o)
	if err == nil {
		err = isFor(chain[0], host)
	}
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	return nil
}

// isFor checks that a certificate is for a host. An address may be present as a DNS name, which OTP requires.
func isFor(c *x509.Certificate, host string) error {
	if isAddress(host) && slices.Contains(c.DNSNames, host) {
		return nil
	}
	return c.VerifyHostname(host)
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func hostOf(peer wire.Atom) string {
	_, host, _ := strings.Cut(string(peer), "@")
	return host
}

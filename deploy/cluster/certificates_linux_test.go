package cluster_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/certtest"
)

// certified starts nodes that use TLS only, and their load.
func (f *fault) certified() *container {
	x, files := f.s.startTLS(f.t, 3)
	f.s, f.victim, f.files = x, x.nodes[0], files
	return x.startLoad(f.t, "-v", files.dir+":/tls:ro", "-e", "LOAD_TLS=/tls")
}

// certificates are those of a stack that uses TLS.
type certificates struct {
	dir  string
	ca   *certtest.Authority
	leaf certtest.Leaf
}

// put puts files into the folder of the nodes, each of them atomically.
func (c *certificates) put(t testing.TB, files map[string][]byte) {
	for name, text := range files {
		name = filepath.Join(c.dir, name)
		require.NoError(t, os.WriteFile(name+".new", text, 0o400))
		require.NoError(t, os.Chown(name+".new", 65532, 65532))
		require.NoError(t, os.Rename(name+".new", name))
	}
}

// startTLS starts n nodes of the profile tls. They end with the test.
func (s *stack) startTLS(t testing.TB, n int) (*stack, *certificates) {
	files := &certificates{dir: t.TempDir(), ca: certtest.New(t, "ca"), leaf: certtest.Host("tls.example")}
	gate := netip.MustParseAddr(s.gate)
	for a := gate.Next(); len(files.leaf.IPs) < 60; a = a.Next() {
		files.leaf.IPs = append(files.leaf.IPs, a.String())
	}
	cert, key := files.ca.Make(files.leaf)
	files.put(t, map[string][]byte{"cert.pem": cert, "key.pem": key, "ca.pem": files.ca.PEM})
	openFolders(t, files.dir)
	x := s.in(t)
	x.vars = append(slices.Clone(s.vars), "ACTORNODE_TLS="+files.dir)
	x.up("tls", n, "--profile", "tls")
	t.Cleanup(func() {
		if t.Failed() {
			x.tellLogs()
		}
		for _, c := range x.nodes {
			s.try("rm", "-f", c.id)
		}
	})
	x.ready()
	return x, files
}

// shows returns the serial number of the certificate that a node shows.
func (c *container) shows(t testing.TB) string {
	conn, err := tls.Dial("tcp", c.ip+":4371", &tls.Config{InsecureSkipVerify: true}) // the certificate is looked at, not trusted
	require.NoError(t, err)
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// recertify gives the nodes other certificates, and then those of another authority.
func (f *fault) recertify() {
	reconnect := func() { // the rest of the nodes, so that no connection of the load ends
		for i, c := range f.s.nodes {
			other := f.s.nodes[(i+1)%len(f.s.nodes)]
			_, err := c.cli("disconnect", other.name)
			assert.NoError(f.t, err)
			_, err = c.cli("connect", other.name)
			assert.NoError(f.t, err)
		}
	}
	serial := func(cert []byte) string {
		block, _ := pem.Decode(cert)
		require.NotNil(f.t, block)
		c, err := x509.ParseCertificate(block.Bytes)
		require.NoError(f.t, err)
		return c.SerialNumber.String()
	}
	show := func(want string) {
		for _, c := range f.s.nodes {
			assert.Equal(f.t, want, c.shows(f.t), c.name)
		}
	}
	before := f.victim.shows(f.t)
	cert, key := f.files.ca.Make(f.files.leaf)
	require.NotEqual(f.t, before, serial(cert))

	f.files.put(f.t, map[string][]byte{"cert.pem": []byte("no certificate")})
	show(before) // an invalid one changes nothing; commands read the same file, and have no older one
	for _, c := range f.s.nodes {
		assert.Contains(f.t, f.s.logs(c), "the changed TLS files are invalid")
	}
	f.files.put(f.t, map[string][]byte{"key.pem": key})
	f.files.put(f.t, map[string][]byte{"cert.pem": cert})
	show(serial(cert))
	reconnect()

	next := certtest.New(f.t, "the next ca")
	f.files.put(f.t, map[string][]byte{"ca.pem": append(slices.Clone(f.files.ca.PEM), next.PEM...)})
	reconnect()
	cert, key = next.Make(f.files.leaf)
	f.files.put(f.t, map[string][]byte{"key.pem": key})
	f.files.put(f.t, map[string][]byte{"cert.pem": cert})
	reconnect()
	f.files.put(f.t, map[string][]byte{"ca.pem": next.PEM})
	reconnect()
	show(serial(cert))
	f.hold(5 * time.Second)
}

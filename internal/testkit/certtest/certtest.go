// Package certtest makes authorities and certificates for the tests of TLS.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	PEM  []byte // its own certificate
}

// Leaf describes a certificate.
type Leaf struct {
	Name        string             // common name; default: the first host
	DNS         []string           // hosts
	IPs         []string           // hosts
	From, Until time.Time          // default: from an hour ago for a day
	Usages      []x509.ExtKeyUsage // default: of server and client
}

// Files holds the paths of a certificate's files.
type Files struct{ Cert, Key, CA string }

var serial atomic.Int64

// New makes an authority.
func New(t testing.TB, name string) *Authority {
	a := &Authority{t: t, key: newKey(t)}
	a.cert = &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	a.cert, a.PEM = a.sign(a.cert, a.key, Leaf{})
	return a
}

// Host returns a leaf for a host: a name, or an address. It includes an address in both forms, since OTP and Go look for it
// in different fields.
func Host(host string) Leaf {
	l := Leaf{Name: host, DNS: []string{host}}
	if net.ParseIP(host) != nil {
		l.IPs = l.DNS
	}
	return l
}

// Write makes a certificate and writes the files cert.pem, key.pem and ca.pem in dir, replacing existing ones.
func (a *Authority) Write(dir string, l Leaf) Files {
	a.t.Helper()
	cert, key := a.Make(l)
	f := Files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")}
	for name, text := range map[string][]byte{f.Cert: cert, f.Key: key, f.CA: a.PEM} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return f
}

// Make makes a certificate and its key, in PEM.
func (a *Authority) Make(l Leaf) (cert, key []byte) {
	a.t.Helper()
	k := newKey(a.t)
	if l.Name == "" {
		l.Name = append(append(l.DNS, l.IPs...), "nobody")[0]
	}
	if l.Usages == nil {
		l.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: l.Name}, DNSNames: l.DNS,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: l.Usages,
	}
	for _, ip := range l.IPs {
		c.IPAddresses = append(c.IPAddresses, net.ParseIP(ip))
	}
	_, cert = a.sign(c, k, l)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (a *Authority) sign(c *x509.Certificate, key *ecdsa.PrivateKey, l Leaf) (*x509.Certificate, []byte) {
	a.t.Helper()
	c.SerialNumber = big.NewInt(serial.Add(1))
	c.NotBefore, c.NotAfter = l.From, l.Until
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-time.Hour)
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(24 * time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	done, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return done, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

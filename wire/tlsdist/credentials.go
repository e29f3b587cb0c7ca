package tlsdist

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/regular"
)

// credentials are the contents of the files.
type credentials struct {
	cert  tls.Certificate // with its Leaf
	roots *x509.CertPool
}

// store holds the current credentials of the files.
//
// Invariants:
//
//  1. good is never nil after load has succeeded once.
//  2. Invalid files are not tried again until they change.
type store struct {
	cfg *Config // set once

	mu       sync.Mutex
	current2 *credentials // the last valid ones
	tried    [sha256.Size]byte
}

// current returns the credentials for a new handshake.
func (s *store) current() *credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.current2
	switch changed, err := s.load(); {
	case !changed:
	case err != nil:
		s.cfg.Log.Error("the changed TLS files are invalid: the previous certificate stays in use", "error", err,
			"certificate", describe(old.cert.Leaf))
	default:
		s.cfg.Log.Info("the TLS files changed and were reloaded; new connections use them", "certificate",
			describe(s.current2.cert.Leaf))
		s.warn()
	}
	return s.current2
}

// load reads the files, and uses them if they have changed since the last call.
func (s *store) load() (changed bool, err error) {
	var files [3][]byte
	sum := sha256.New()
	for i, name := range []string{s.cfg.Cert, s.cfg.Key, s.cfg.CA} {
		b, e := regular.File(name)
		if e != nil && err == nil {
			err = e
		}
		files[i] = b
		fmt.Fprintf(sum, "%d %v\n", len(b), e)
		sum.Write(b)
	}
	now := [sha256.Size]byte(sum.Sum(nil))
	if now == s.tried {
		return false, nil
	}
	s.tried = now
	if err != nil {
		return true, err
	}
	c, err := s.parse(files[0], files[1], files[2])
	if err != nil {
		return true, err
	}
	s.current2 = c
	return true, nil
}

// parse makes credentials from the contents of the files; the error says which file is invalid.
func (s *store) parse(cert, key, ca []byte) (*credentials, error) {
	c := &credentials{roots: x509.NewCertPool()}
	if err := check(key, "PRIVATE KEY", "a private key"); err != nil {
		return nil, fmt.Errorf("key file %s: %w", s.cfg.Key, err)
	}
	if err := check(cert, "CERTIFICATE", "a certificate"); err != nil {
		return nil, fmt.Errorf("certificate file %s: %w", s.cfg.Cert, err)
	}
	if err := check(ca, "CERTIFICATE", "a certificate"); err != nil {
		return nil, fmt.Errorf("CA file %s: %w", s.cfg.CA, err)
	}
	var err error
	if c.cert, err = tls.X509KeyPair(cert, key); err != nil {
		return nil, fmt.Errorf("certificate file %s with key file %s: %w", s.cfg.Cert, s.cfg.Key, err)
	}
	switch now, leaf := s.cfg.Now(), c.cert.Leaf; {
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("certificate file %s: it expired on %v", s.cfg.Cert, stamp(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("certificate file %s: it is not valid before %v", s.cfg.Cert, stamp(leaf.NotBefore))
	}
	for rest := ca; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return c, nil
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("CA file %s: %w", s.cfg.CA, err)
		}
		c.roots.AddCert(root)
	}
}

// check returns an error if a file contains no PEM block of a kind.
func check(file []byte, kind, what string) error {
	for rest := file; ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return fmt.Errorf("it contains no PEM block of %s", what)
		case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
			return errors.New("the key is encrypted: want a key without a password")
		case strings.HasSuffix(block.Type, kind):
			return nil
		}
	}
}

// warn logs problems that peers will object to.
func (s *store) warn() {
	leaf := s.current2.cert.Leaf
	if len(leaf.ExtKeyUsage) == 0 || slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) {
		return
	}
	for usage, what := range map[x509.ExtKeyUsage]string{
		x509.ExtKeyUsageServerAuth: "serverAuth: nodes that connect to this node will refuse it",
		x509.ExtKeyUsageClientAuth: "clientAuth: nodes that this node connects to will refuse it",
	} {
		if !slices.Contains(leaf.ExtKeyUsage, usage) {
			s.cfg.Log.Warn("this node's certificate is not for " + what)
		}
	}
}

// describe identifies a certificate, for people.
func describe(c *x509.Certificate) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q", c.Subject.String())
	if names := hosts(c); len(names) > 0 {
		fmt.Fprintf(&b, " for %s", strings.Join(names, ", "))
	} else {
		b.WriteString(" for no host")
	}
	fmt.Fprintf(&b, ", by %q, valid from %s to %s", c.Issuer.String(), stamp(c.NotBefore), stamp(c.NotAfter))
	return b.String()
}

// hosts lists the hosts that a certificate is for.
func hosts(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		if s := ip.String(); !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

package tlsdist_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/tlsdist"
)

// selfSigned writes a certificate for 127.0.0.1, which is its own authority, and its key.
func selfSigned(dir string) (cert, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return "", "", err
	}
	return cert, key, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}

// Two nodes with an encrypted connection. In a cluster each host has a certificate of its own, all of one authority.
func Example() {
	dir, err := os.MkdirTemp("", "tlsdist")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	cert, key, err := selfSigned(dir)
	if err != nil {
		panic(err)
	}
	start := func(name node.Atom, finder discovery.Finder) *node.Node {
		tls, err := tlsdist.New(tlsdist.Config{Cert: cert, Key: key, CA: cert})
		if err != nil {
			panic(err)
		}
		n, err := node.Start(node.Config{Name: name, Distribution: &node.Distribution{
			Cookie: "secret", Finder: finder, Listen: "127.0.0.1:0", Transport: tls}})
		if err != nil {
			panic(err)
		}
		return n
	}
	till := start("till@127.0.0.1", &discovery.Static{})
	defer till.Stop()
	inbox, err := till.Open()
	if err != nil {
		panic(err)
	}
	shop := start("shop@127.0.0.1", &discovery.Static{Nodes: map[wire.Atom][]discovery.Endpoint{
		"till@127.0.0.1": {{Addr: till.Addr().String()}}}})
	defer shop.Stop()

	shop.Send(inbox.Self(), "sold")
	fmt.Println(node.ReceiveOfWithin[string](inbox, time.Minute))
	// Output:
	// sold <nil>
}

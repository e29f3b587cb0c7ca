package limits

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Visitor is the identity and the rights of a node that is being connected, or is. It is completed with each step of the
// handshake. The zero value may do everything.
type Visitor struct {
	Policy *rights.Policy // nil if every node may do everything
	Who    rights.Identity
}

// Named records the name that a connecting node has sent over conn. The error refuses it: no cookie could let it connect.
func (v *Visitor) Named(name wire.Atom, conn any) error {
	v.Who = rights.Identity{Name: name, TLS: certified(conn)}
	if v.Policy == nil || v.Policy.MayAdmit(v.Who) {
		return nil
	}
	return v.refused()
}

// Dialled records a node that this one has connected to, over conn. The error refuses it.
func (v *Visitor) Dialled(name wire.Atom, conn any) error {
	v.Who = rights.Identity{Name: name, TLS: certified(conn)}
	return v.MayConnect()
}

// Again checks another connection to the dialled node, which replaces the first. The error refuses it: its certificate is for
// another node.
func (v *Visitor) Again(conn any) error {
	if now := certified(conn); v.Policy != nil && !slices.Equal(now, v.Who.TLS) {
		return fmt.Errorf("%w: %s has now a certificate for %v, and had one for %v", dist.ErrNotAllowed, v.Who.Name, now, v.Who.TLS)
	}
	return nil
}

// Redial wraps dial for further connections that replace the first: see Again.
func (v *Visitor) Redial(dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		if err = v.Again(conn); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
}

// Accept returns Accept of a handshake, or nil if there are no further cookies.
func (v *Visitor) Accept() func(wire.Atom, func(string) bool) (string, bool) {
	if v.Policy == nil {
		return nil
	}
	return func(_ wire.Atom, knows func(string) bool) (cookie string, ok bool) {
		cookie, v.Who.Cookie, ok = v.Policy.Accept(knows)
		return cookie, ok
	}
}

// MayConnect returns an error if the node, which has proved its identity, has no right to be connected.
func (v *Visitor) MayConnect() error {
	if v.Granted(nil).Connect() {
		return nil
	}
	return v.refused()
}

func (v *Visitor) refused() error {
	with := "no certificate"
	if v.Who.TLS != nil {
		with = "a certificate for " + strings.Join(v.Who.TLS, " ")
	}
	if v.Who.Cookie != "" {
		with += " and the cookie " + v.Who.Cookie
	}
	return fmt.Errorf("%w: the rights of this node do not let %s connect, with %s", dist.ErrNotAllowed, v.Who.Name, with)
}

// Granted returns what the node may do now; before is its previous result, or nil.
func (v *Visitor) Granted(before *rights.Granted) *rights.Granted {
	if v.Policy == nil {
		return nil
	}
	return v.Policy.Of(v.Who, before)
}

// certified returns the names in the certificate of the other end of a connection, in the syntax of rules.
func certified(conn any) (all []string) {
	c, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return nil
	}
	certs := c.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return nil
	}
	for _, name := range certs[0].DNSNames {
		all = append(all, "dns:"+name)
	}
	for _, uri := range certs[0].URIs {
		all = append(all, "uri:"+uri.String())
	}
	if name := certs[0].Subject.CommonName; name != "" {
		all = append(all, "cn:"+name)
	}
	return all
}

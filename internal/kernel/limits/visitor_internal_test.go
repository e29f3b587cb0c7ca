package limits

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire/dist"
)

// shown is a connection to a peer that has shown a certificate.
type shown struct{ dns []string }

func (s shown) ConnectionState() tls.ConnectionState {
	return tls.ConnectionState{PeerCertificates: []*x509.Certificate{{DNSNames: s.dns}}}
}

// A node that is dialled again must show a certificate for the same names.
func TestVisitorAgain(t *testing.T) {
	p, err := rights.New(rights.Config{Rules: []rights.Rule{{TLS: "dns:ops", May: []string{"connect"}}}})
	require.NoError(t, err)
	v := Visitor{Policy: p}
	ops, shop := shown{[]string{"ops"}}, shown{[]string{"shop"}}
	require.ErrorIs(t, v.Dialled("a@h", shop), dist.ErrNotAllowed)
	require.NoError(t, v.Dialled("a@h", ops))
	require.NoError(t, v.Again(ops))
	require.ErrorIs(t, v.Again(shop), dist.ErrNotAllowed)
	require.ErrorIs(t, v.Again(nil), dist.ErrNotAllowed, "no certificate is another, too")
	free := Visitor{}
	require.NoError(t, free.Dialled("a@h", shop))
	require.NoError(t, free.Again(ops), "nobody asks")
}

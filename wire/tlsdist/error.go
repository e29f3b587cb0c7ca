package tlsdist

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
)

// failure describes a failed connection: the certificate, the host, and the peer's alert.
type failure struct {
	text  string
	cause error
}

func (e *failure) Error() string { return "tlsdist: " + e.text }

// Unwrap returns the cause, if it is an error of package tls, x509 or os.
func (e *failure) Unwrap() error { return e.cause }

// errSilent is the error of a handshake that takes too long.
var errSilent = errors.New("tlsdist: the peer does not answer")

// isAlert returns the text of the peer's alert, or "" if err is not one.
func isAlert(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return strings.TrimPrefix(op.Err.Error(), "tls: ")
	}
	return ""
}

// explain turns an error of package tls into one that says what to do.
func (c *conn) explain(err error) *failure {
	var (
		verification *tls.CertificateVerificationError
		header       tls.RecordHeaderError
		alert        = isAlert(err)
	)
	switch {
	case alert != "":
		return &failure{cause: err, text: fmt.Sprintf("%s refused the TLS connection with the alert %q%s", c.peer, alert,
			c.self())}
	case errors.As(err, &verification):
		return &failure{cause: err, text: c.refusal(verification)}
	case errors.As(err, &header):
		return &failure{cause: err, text: fmt.Sprintf("%s does not speak TLS: it sent %.80q; "+
			"an OTP node needs -proto_dist inet_tls", c.peer, header.RecordHeader[:])}
	case isTimeout(err):
		return &failure{text: fmt.Sprintf("the TLS handshake with %s did not finish within %v: the peer may not speak TLS "+
			"(on OTP: -proto_dist inet_tls), or hang", c.peer, c.by.cfg.Timeout)}
	case isEnd(err): // not as a cause, which could be mistaken for an EOF
		return &failure{text: fmt.Sprintf("%s closed the connection during the TLS handshake: it may not speak TLS "+
			"(on OTP: -proto_dist inet_tls), or its certificate is unusable; see its log", c.peer)}
	case strings.Contains(err.Error(), "didn't provide a certificate"):
		return &failure{cause: err, text: fmt.Sprintf("%s presented no certificate, but every node needs one: "+
			"on OTP set certfile and keyfile, also in the client options", c.peer)}
	}
	return &failure{cause: err, text: fmt.Sprintf("TLS handshake with %s: %v", c.peer, err)}
}

// self describes the certificate that the peer got from this node.
func (c *conn) self() string {
	ours := c.ours.Load()
	if ours == nil {
		return ""
	}
	leaf := ours.cert.Leaf
	s := fmt.Sprintf("; this node's certificate (%s) is %s", c.by.cfg.Cert, describe(leaf))
	switch now := c.by.cfg.Now(); {
	case now.After(leaf.NotAfter):
		s += ": it has expired"
	case c.server && c.host != "" && isFor(leaf, c.host) != nil:
		s += fmt.Sprintf(": it is not valid for %s, the name that the peer connects to", c.host)
	}
	return s
}

// refusal returns why the peer's certificate is refused.
func (c *conn) refusal(v *tls.CertificateVerificationError) string {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
		why     = v.Err.Error()
	)
	switch {
	case errors.As(v.Err, &unknown):
		why = fmt.Sprintf("no authority in %s signed it (%v)", c.by.cfg.CA, v.Err)
	case errors.As(v.Err, &host):
		why = fmt.Sprintf("it is not for the host %s", c.host)
	case errors.As(v.Err, &invalid) && invalid.Reason == x509.Expired:
		why = "it has expired or is not valid yet"
		if invalid.Cert != nil && invalid.Cert != v.UnverifiedCertificates[0] {
			why = fmt.Sprintf("that of its authority, %s, has expired or is not valid yet", describe(invalid.Cert))
		}
	}
	return fmt.Sprintf("this node refused the certificate of %s (%s): %s", c.peer, describe(v.UnverifiedCertificates[0]), why)
}

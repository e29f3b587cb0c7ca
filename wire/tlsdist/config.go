package tlsdist

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/actornode/actornode/wire/dist"
)

// defaultTimeout is less than a node's timeout for connecting, so that this package reports what has failed.
const defaultTimeout = 5 * time.Second

// Config has this node's certificate and the authorities that it trusts. The three files,
// in PEM, must be set; for the rest the zero value works.
type Config struct {
	// Cert is the file with this node's certificate, followed by any intermediate certificates.
	Cert string
	// Key is the file with the certificate's private key, not encrypted. It may be
	// the same file.
	Key string
	// CA is the file with the authorities that must have signed the certificates of peers. The system's authorities are not
	// used.
	CA string

	// AnyHost admits nodes even if the host in their name is not in their certificate,
	// as OTP does. Dialed nodes are always checked.
	AnyHost bool
	// MinVersion is tls.VersionTLS12, the default, or tls.VersionTLS13.
	MinVersion uint16
	// Timeout bounds a handshake. Default: 5 s, less than a node's timeout for connecting.
	Timeout time.Duration
	// Under is the underlying transport. Default: dist.TCP.
	Under dist.Transport
	// Log gets a line when the files have changed, and when they are invalid. Default:
	// slog.Default().
	Log *slog.Logger
	// Now is the clock for checking certificates. Default: time.Now.
	Now func() time.Time
}

// validate fills in the defaults and checks the other fields.
func (c *Config) validate() error {
	var missing []string
	for _, f := range []struct{ what, file string }{
		{"Cert (this node's certificate)", c.Cert},
		{"Key (its private key)", c.Key},
		{"CA (the authorities that sign the peers' certificates)", c.CA},
	} {
		if f.file == "" {
			missing = append(missing, f.what)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("tlsdist: the file for %s is missing", strings.Join(missing, ", "))
	case c.Timeout < 0:
		return errors.New("tlsdist: Config.Timeout is negative")
	case c.MinVersion != 0 && c.MinVersion != tls.VersionTLS12 && c.MinVersion != tls.VersionTLS13:
		return fmt.Errorf("tlsdist: Config.MinVersion is %s: want TLS 1.2 or 1.3", tls.VersionName(c.MinVersion))
	}
	c.MinVersion = cmp.Or(c.MinVersion, tls.VersionTLS12)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.Under == nil {
		c.Under = dist.TCP{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

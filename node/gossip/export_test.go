package gossip

import (
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

// Hurry makes members notice deaths within a second or two.
func Hurry(c *Config) {
	c.tune = func(m *memberlist.Config) {
		m.ProbeInterval, m.ProbeTimeout = 200*time.Millisecond, 100*time.Millisecond
		m.GossipInterval, m.PushPullInterval = 20*time.Millisecond, time.Second
		m.GossipToTheDeadTime = 1 // memberlist does not try dead members by itself
		m.SuspicionMult, m.SuspicionMaxTimeoutMult = 2, 2
	}
}

// Patience keeps members from being given up while a test lasts.
func Patience(c *Config) {
	before := c.tune
	c.tune = func(m *memberlist.Config) {
		before(m)
		m.SuspicionMult = 1 << 20
	}
}

// Calm undoes Hurry, and keeps members from being given up.
func Calm(c *Config) { c.tune = func(m *memberlist.Config) { m.SuspicionMult = 1 << 20 } }

// Linger makes memberlist wait as long for a stream as a stream may last.
func Linger(c *Config) {
	before := c.tune
	c.tune = func(m *memberlist.Config) {
		before(m)
		m.TCPTimeout = time.Hour
	}
}

// Fault lets loses decide which messages of a member are lost. The member gossips at from, HOST:PORT.
func Fault(c *Config, loses func(from, to string) bool) {
	before := c.tune
	c.tune = func(m *memberlist.Config) {
		before(m)
		m.Transport = &faulty{m.Transport.(*transport), net.JoinHostPort(m.BindAddr, strconv.Itoa(m.BindPort)), loses}
	}
}

type faulty struct {
	*transport
	from  string
	loses func(from, to string) bool
}

func (f *faulty) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if f.loses(f.from, a.Addr) {
		return time.Now(), nil
	}
	return f.transport.WriteToAddress(b, a)
}

func (f *faulty) DialAddressTimeout(a memberlist.Address, d time.Duration) (net.Conn, error) {
	if f.loses(f.from, a.Addr) {
		return nil, errors.New("the network is cut")
	}
	return f.transport.DialAddressTimeout(a, d)
}

// Kill ends a member without a farewell, as the death of its process would.
func (f *Finder) Kill() {
	f.mu.Lock()
	r := f.session
	f.mu.Unlock()
	r.end.Do(func() {
		r.cancel()
		<-r.done
		r.list.Shutdown()
		r.lines.close()
		f.off()
	})
}

// KeyOf returns the key of a cookie.
var KeyOf = keyOf

package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// transport sends and receives for memberlist, with one UDP socket and one TCP listener on the same port. memberlist's
// own transport accepts any number of streams, of any length, and keeps a buffer of 64 KiB for each datagram.
//
// listen starts its goroutines, accept and receive. Shutdown ends them and waits for them.
type transport struct {
	tcp     *net.TCPListener
	udp     *net.UDPConn
	packets chan *memberlist.Packet // unbuffered: datagrams wait in the kernel, which bounds them
	streams *streams
	log     *slog.Logger
	ctx     context.Context // ended by Shutdown
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

const (
	maxPacket  = 64 << 10 // bytes: the longest UDP datagram
	packetRoom = 2 << 20  // bytes of unread datagrams that the kernel is asked to keep
	portTries  = 10
	minRest    = 5 * time.Millisecond // after a socket error
	maxRest    = time.Second
)

// listen opens the sockets at addr. With port 0 the system chooses a TCP port whose number is free for UDP, too.
func listen(addr string, port int, s *streams, log *slog.Logger) (*transport, error) {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return nil, err
	}
	t := &transport{packets: make(chan *memberlist.Packet), streams: s, log: log}
	for try := 1; ; try++ {
		err := t.open(netip.AddrPortFrom(ip, uint16(port)))
		if err == nil {
			break
		}
		if port != 0 || try == portTries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.wg.Add(2)
	go t.accept()
	go t.receive()
	return t, nil
}

func (t *transport) open(at netip.AddrPort) (err error) {
	if t.tcp, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at)); err != nil {
		return err
	}
	at = netip.AddrPortFrom(at.Addr(), uint16(t.port()))
	if t.udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at)); err != nil {
		t.tcp.Close()
		return err
	}
	for size := packetRoom; size > 0 && t.udp.SetReadBuffer(size) != nil; {
		size /= 2 // as much as the system allows; if nothing, its default
	}
	return nil
}

// port returns the port that it listens on.
func (t *transport) port() int { return t.tcp.Addr().(*net.TCPAddr).Port }

// accept passes TCP connections to streams.
func (t *transport) accept() {
	defer t.wg.Done()
	rest := minRest
	for {
		conn, err := t.tcp.Accept()
		if err == nil {
			rest = minRest
			t.streams.admit(conn)
		} else if !t.rest(&rest, "cannot accept TCP connections", err) {
			return
		}
	}
}

// receive reads datagrams. It copies each, so that it takes only as much memory as it is long.
func (t *transport) receive() {
	defer t.wg.Done()
	rest := minRest
	buf := make([]byte, maxPacket)
	for {
		n, from, err := t.udp.ReadFrom(buf)
		at := time.Now()
		if err != nil {
			if !t.rest(&rest, "cannot read a datagram", err) {
				return
			}
			continue
		}
		rest = minRest
		if n == 0 {
			continue
		}
		select {
		case t.packets <- &memberlist.Packet{Buf: bytes.Clone(buf[:n]), From: from, Timestamp: at}:
		case <-t.ctx.Done():
			return
		}
	}
}

// rest waits after an error, longer each time. It returns false once the transport has been shut down.
func (t *transport) rest(d *time.Duration, what string, err error) bool {
	if t.ctx.Err() != nil {
		return false
	}
	t.log.Warn("gossip: "+what, "error", err, "retry_in", *d)
	timer := time.NewTimer(*d)
	defer timer.Stop()
	*d = min(2**d, maxRest)
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// FinalAdvertiseAddr is part of memberlist.Transport: the address that others use.
func (t *transport) FinalAdvertiseAddr(ip string, port int) (net.IP, int, error) {
	if ip == "" {
		return t.tcp.Addr().(*net.TCPAddr).IP, t.port(), nil
	}
	ip, _, _ = strings.Cut(ip, "%") // a zone means nothing to others
	addr := net.ParseIP(ip)
	if addr == nil {
		return nil, 0, fmt.Errorf("gossip: %q is not an IP address", ip)
	}
	if four := addr.To4(); four != nil {
		addr = four
	}
	return addr, port, nil
}

// WriteTo is part of memberlist.Transport.
func (t *transport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress is part of memberlist.NodeAwareTransport.
func (t *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	to, err := net.ResolveUDPAddr("udp", a.Addr)
	if err != nil {
		return time.Time{}, err
	}
	_, err = t.udp.WriteTo(b, to)
	return time.Now(), err
}

// PacketCh is part of memberlist.Transport.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout is part of memberlist.Transport.
func (t *transport) DialTimeout(addr string, d time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, d)
}

// DialAddressTimeout is part of memberlist.NodeAwareTransport. memberlist has at most three such streams at a time: to
// join, to exchange its whole state, and to probe.
func (t *transport) DialAddressTimeout(a memberlist.Address, d time.Duration) (net.Conn, error) {
	end := time.Now().Add(t.streams.timeout)
	dialer := net.Dialer{Timeout: d, Deadline: end}
	conn, err := dialer.DialContext(t.ctx, "tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	return t.streams.outgoing(conn, end)
}

// StreamCh is part of memberlist.Transport.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams.out }

// Shutdown is part of memberlist.Transport. It leaves no stream open. A second call does nothing.
func (t *transport) Shutdown() error {
	if t.ctx.Err() != nil {
		return nil
	}
	t.cancel()
	err := errors.Join(t.tcp.Close(), t.udp.Close())
	t.wg.Wait()
	t.streams.close()
	return err
}

package raw

import (
	"encoding/binary"
	"net"
	"time"
)

// Types of a gossip stream's first byte, of memberlist.
const (
	GossipPushPull  = 6
	GossipUser      = 8
	GossipCompress  = 9
	GossipEncrypted = 10
)

// Gossip is a stream of gossip over TCP.
type Gossip struct{ *Conn }

// DialGossip connects to where a node gossips, HOST:PORT.
func DialGossip(addr string) (*Gossip, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	return &Gossip{c}, nil
}

// Claim begins an encrypted message that announces this many bytes.
func (g *Gossip) Claim(size uint32) error {
	return g.Send(binary.BigEndian.AppendUint32([]byte{GossipEncrypted}, size))
}

// SendUDP sends a datagram to addr, HOST:PORT, from a socket of its own.
func SendUDP(addr string, b []byte) error {
	c, err := net.Dial("udp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write(b)
	return err
}

// HTTP is a connection to a web server.
type HTTP struct{ *Conn }

// DialHTTP connects to addr, HOST:PORT.
func DialHTTP(addr string) (*HTTP, error) {
	c, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	return &HTTP{c}, nil
}

// Text sends text as it is and reads what comes until the server closes, or for so
// long. closed reports the former.
func (h *HTTP) Text(text string, within time.Duration) (answer string, closed bool) {
	if err := h.Send([]byte(text)); err != nil {
		return "", true
	}
	b, closed := h.Rest(within)
	return string(b), closed
}

// Get asks for a path once, in a connection of its own, and returns the answer with its
// head.
func Get(addr, path string) (answer string, err error) {
	h, err := DialHTTP(addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = h.Close() }()
	answer, _ = h.Text("GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", h.Patience)
	return answer, nil
}

package socket

import (
	"net"
	"sync/atomic"
)

// sendMost is the maximum number of bytes per write, so that progress on a slow connection is visible. Larger writes are
// not faster.
const sendMost = 256 << 10

// Send writes b to a connection in parts, and adds the number of sent bytes to sent after each.
func Send(conn net.Conn, b []byte, sent *atomic.Uint64) error {
	for len(b) > sendMost {
		n, err := conn.Write(b[:sendMost])
		sent.Add(uint64(n))
		if err != nil {
			return err
		}
		b = b[n:]
	}
	n, err := conn.Write(b)
	sent.Add(uint64(n))
	return err
}

// SendAll is Send for several slices. It changes pieces, like [net.Buffers].
func SendAll(conn net.Conn, pieces net.Buffers, sent *atomic.Uint64) error {
	for len(pieces) > 0 {
		if len(pieces[0]) > sendMost {
			if err := Send(conn, pieces[0], sent); err != nil {
				return err
			}
			pieces[0] = nil
			pieces = pieces[1:]
			continue
		}
		size, k := 0, 0
		for k < len(pieces) && size+len(pieces[k]) <= sendMost {
			size += len(pieces[k])
			k++
		}
		some := pieces[:k:k]
		n, err := some.WriteTo(conn)
		sent.Add(uint64(n))
		if err != nil {
			return err
		}
		pieces = pieces[k:]
	}
	return nil
}

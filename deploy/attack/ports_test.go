package attack

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/epmdserver"
)

// ports attack the other listeners than those for nodes: EPMD, gossip, HTTP.
var ports = slices.Concat(atEPMD, atGossip, atHTTP)

func (a *attempt) epmd() *raw.EPMD {
	e, err := raw.DialEPMD(a.EPMD)
	require.NoError(a, err)
	a.Cleanup(func() { _ = e.Close() })
	return e
}

// found checks that the port mapper still knows the node, within the given time.
func (a *attempt) found(within time.Duration) {
	var answer epmdserver.PortAnswer
	begun := time.Now()
	err := a.Until(testkit.Limit, func() bool {
		e, err := raw.DialEPMD(a.EPMD)
		if err != nil {
			return false
		}
		defer func() { _ = e.Close() }()
		answer, err = e.Lookup("go")
		return err == nil && answer.Result == 0
	})
	require.NoError(a, err)
	a.inTime(within, begun, "the port mapper answers")
	require.True(a, strings.HasSuffix(a.Erlang, fmt.Sprint(":", answer.Registration.Port)), "the port of %s is %v", a.Erlang,
		answer)
}

var atEPMD = []row{
	{name: "epmd: a taken name", attack: func(a *attempt) {
		for range 3 {
			e := a.epmd()
			answer, err := e.Register(epmdserver.Registration{Name: "go", Port: 1})
			require.True(a, err != nil || answer.Result != 0, "the name of a live node is given away")
		}
		a.found(5 * time.Second)
	}},
	{name: "epmd: KILL, STOP, DUMP", attack: func(a *attempt) {
		for _, r := range []epmdserver.Request{{Op: epmdserver.OpKill}, {Op: epmdserver.OpStop, Name: "go"}, {Op: epmdserver.OpDump}} {
			e := a.epmd()
			require.NoError(a, e.Request(r))
			b, _ := e.Rest(5 * time.Second)
			require.NotEqual(a, "OK", string(b))
			require.NotContains(a, string(b), "STOPPED")
		}
		a.found(5 * time.Second)
	}},
	{name: "epmd: every op without and with a body", attack: func(a *attempt) {
		several(256, 8, func(op int) {
			if op == int(epmdserver.OpAlive) {
				return
			}
			for _, body := range [][]byte{{byte(op)}, append([]byte{byte(op)}, make([]byte, 100)...), append([]byte{byte(op)},
				bytes.Repeat([]byte{255}, 300)...)} {
				a.pour(a.EPMD, sized(body))
			}
		})
		a.found(5 * time.Second)
	}},
	{name: "epmd: 1,000 times garbage", attack: func(a *attempt) {
		all := make([][]byte, 1000)
		for i := range all {
			all[i] = a.noise(i)
		}
		several(len(all), 8, func(i int) { a.pour(a.EPMD, all[i]) })
		a.found(5 * time.Second)
	}},
	{name: "epmd: requests of 64 KiB, and that lie about their length", attack: func(a *attempt) {
		for _, n := range []int{0, 1, 2, 100, 65535} {
			a.pour(a.EPMD, append(binary.BigEndian.AppendUint16(nil, uint16(n)), bytes.Repeat([]byte{opAlive}, 65535)...))
			a.pour(a.EPMD, append(binary.BigEndian.AppendUint16(nil, uint16(n)), byte(epmdserver.OpPort)))
		}
		a.found(5 * time.Second)
	}},
	{name: "epmd: a registration with every field wrong", attack: func(a *attempt) {
		good := must(epmdserver.Request{Op: epmdserver.OpAlive,
			Registration: epmdserver.Registration{Name: "x", Port: 1, Type: 77, Highest: 6,
				Lowest: 5, Extra: []byte("extra")}}.Append(nil))
		for i := range good {
			b := bytes.Clone(good)
			b[i] = 0xff
			a.pour(a.EPMD, b)
			b[i] = 0
			a.pour(a.EPMD, b)
			a.pour(a.EPMD, good[:i])
		}
		a.found(5 * time.Second)
	}},
	{name: "epmd: names with newlines, escapes, NUL, and of 255 characters", attack: func(a *attempt) {
		for _, name := range []string{"x\nname go at port 1", "\x1b[2J", "x\x00y", strings.Repeat("n", 255),
			strings.Repeat("n", 256), "go ", "GO", "\xff"} {
			e := a.epmd()
			_, _ = e.Register(epmdserver.Registration{Name: name, Port: 2})
			names, err := a.epmd().Names()
			require.NoError(a, err)
			for _, n := range names.Entries {
				require.False(a, n.Name == "go" && !strings.HasSuffix(a.Erlang, fmt.Sprint(":", n.Port)),
					"a name forges a line: %v", names)
			}
			_ = e.Close()
		}
	}, want: want{never: "\x1b"}},
	{name: "epmd: 400 registrations", attack: func(a *attempt) {
		for i := range 400 {
			if e, err := raw.DialEPMD(a.EPMD); err == nil {
				e.Patience = time.Second
				_, _ = e.Register(epmdserver.Registration{Name: fmt.Sprint("n", i), Port: 3})
				defer func() { _ = e.Close() }()
			}
		}
		a.found(5 * time.Second)
	}},
	{name: "epmd: 1,100 idle connections", attack: func(a *attempt) {
		var conns []*raw.Conn
		for range 1100 {
			if c, err := raw.DialFrom(attacker, a.EPMD); err == nil {
				conns = append(conns, c)
			}
		}
		a.someWait()
		for _, c := range conns {
			_ = c.Close()
		}
		a.found(10 * time.Second)
	}},
	{name: "epmd: a byte behind a registration, half-closed ones", attack: func(a *attempt) {
		e := a.epmd()
		answer, err := e.Register(epmdserver.Registration{Name: "byte", Port: 2})
		require.NoError(a, err)
		require.Zero(a, answer.Result)
		require.NoError(a, e.Send([]byte{1}))
		a.closes(e.Conn, 5*time.Second)
		h := a.epmd()
		_, err = h.Register(epmdserver.Registration{Name: "half", Port: 2})
		require.NoError(a, err)
		require.NoError(a, h.CloseWrite())
		a.closes(h.Conn, 5*time.Second)
	}},
}

const opAlive = byte(epmdserver.OpAlive)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var atGossip = []row{
	{name: "gossip: streams of 20 MiB that are read before the key", setup: "gossip", attack: func(a *attempt) {
		block := make([]byte, 1<<20)
		several(24, 24, func(int) {
			g, err := raw.DialGossip(a.Gossip)
			if err != nil {
				return
			}
			a.Cleanup(func() { _ = g.Close() })
			g.Patience = 2 * time.Second
			if g.Claim(20<<20) != nil {
				return
			}
			for range 20 {
				if g.Send(block) != nil {
					return
				}
			}
		})
	}},
	{name: "gossip: 500 idle streams", setup: "gossip", attack: func(a *attempt) {
		for range 500 {
			if g, err := raw.DialGossip(a.Gossip); err == nil {
				defer func() { _ = g.Close() }()
				_ = g.Claim(1 << 20)
			}
		}
		a.someWait()
	}},
	{name: "gossip: streams of every type, without a key", setup: "gossip", attack: func(a *attempt) {
		several(256, 8, func(i int) {
			a.pour(a.Gossip, append([]byte{byte(i)}, bytes.Repeat([]byte{0xdf, 0xff, 0xff, 0xff, 0xff}, 20)...))
		})
	}},
	{name: "gossip: lengths that lie, encrypted", setup: "gossip", attack: func(a *attempt) {
		for _, n := range []uint32{0, 1, 15, 28, 1 << 10, 20 << 20, 20<<20 + 1, 1 << 31, 1<<32 - 1} {
			a.pour(a.Gossip, append(binary.BigEndian.AppendUint32([]byte{raw.GossipEncrypted}, n), a.noise(1000)...))
		}
	}},
	{name: "gossip: 30,000 garbage datagrams", setup: "gossip", attack: func(a *attempt) {
		c := must(newUDP(a.Gossip))
		defer func() { _ = c.Close() }()
		b := a.noise(1400)
		for i := range 30_000 {
			b[0] = byte(i)
			_, _ = c.Write(b[:1+i%1400])
		}
	}, want: want{logKiB: 64}},
	{name: "gossip: bombs in datagrams", setup: "gossip", attack: func(a *attempt) {
		var z bytes.Buffer
		w := lzw.NewWriter(&z, lzw.LSB, 8)
		_, _ = w.Write(make([]byte, 32<<20))
		_ = w.Close()
		c := must(newUDP(a.Gossip))
		defer func() { _ = c.Close() }()
		for range 200 {
			_, _ = c.Write(append([]byte{raw.GossipCompress, 0x82, 0xa4, 'A', 'l', 'g', 'o', 0, 0xa3, 'B', 'u', 'f', 0xda,
				0xf0, 0},
				z.Bytes()[:min(z.Len(), 60_000)]...))
		}
		a.pour(a.Gossip, append([]byte{raw.GossipCompress, 0x82, 0xa4, 'A', 'l', 'g', 'o', 0, 0xa3, 'B', 'u', 'f', 0xdb, 1, 0,
			0, 0}, z.Bytes()...))
	}},
}

var atHTTP = []row{
	{name: "http: 50 that send a byte now and then", slow: true, attack: func(a *attempt) {
		var closed atomic.Int32
		several(50, 50, func(int) {
			h, err := raw.DialHTTP(a.HTTP)
			if err != nil {
				return
			}
			defer func() { _ = h.Close() }()
			for i := range 80 {
				if h.Send([]byte("GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 99))[i:i+1]) != nil {
					break
				}
				if _, ended := h.Rest(200 * time.Millisecond); ended {
					closed.Add(1)
					break
				}
			}
		})
		require.EqualValues(a, 50, closed.Load(), "so many were closed")
	}},
	{name: "http: 500 kept-alive connections", attack: func(a *attempt) {
		var hs []*raw.HTTP
		for range 500 {
			if h, err := raw.DialHTTP(a.HTTP); err == nil {
				hs = append(hs, h)
				_ = h.Send([]byte("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"))
			}
		}
		a.someWait()
		require.Less(a, a.Figures().Files, 400, "so many files are open")
		for _, h := range hs {
			_ = h.Close()
		}
	}},
	{name: "http: huge headers and request lines", attack: func(a *attempt) {
		for _, text := range []string{
			"GET /" + strings.Repeat("x", 4<<20) + " HTTP/1.1\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 4000) + "\r\n",
		} {
			h, err := raw.DialHTTP(a.HTTP)
			require.NoError(a, err)
			_, closed := h.Text(text, 10*time.Second)
			require.True(a, closed)
			_ = h.Close()
		}
	}},
	{name: "http: bodies without end", slow: true, attack: func(a *attempt) {
		for _, text := range []string{
			"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 999999999999\r\n\r\n" + strings.Repeat("z",
				1<<20),
			"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		} {
			h, err := raw.DialHTTP(a.HTTP)
			require.NoError(a, err)
			_, closed := h.Text(text, 30*time.Second)
			require.True(a, closed)
			_ = h.Close()
		}
	}},
	{name: "http: other methods and paths", attack: func(a *attempt) {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "\x1b[2J", "G\x00T"} {
			for _, path := range []string{"/livez", "/readyz", "/metrics", "/", "/debug/pprof/cmdline", "/debug/vars",
				"/../../etc/passwd", "*", "/%00"} {
				h, err := raw.DialHTTP(a.HTTP)
				require.NoError(a, err)
				answer, _ := h.Text(method+" "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
					5*time.Second)
				require.False(a, strings.HasPrefix(answer, "HTTP/1.1 200") && strings.Contains(answer, "cookie"), answer)
				_ = h.Close()
			}
		}
		for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/", "/debug/pprof/heap"} {
			answer, err := raw.Get(a.HTTP, path)
			require.NoError(a, err)
			require.Contains(a, answer, "404", "pprof is off by default")
		}
	}},
	{name: "http: 2,000 pipelined requests, answers not read", attack: func(a *attempt) {
		h, err := raw.DialHTTP(a.HTTP)
		require.NoError(a, err)
		h.Patience = 2 * time.Second
		_ = h.Send([]byte(strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 2000)))
		a.someWait()
		h.Reset()
	}},
	{name: "http: the cookie is not in what pprof shows", own: &raw.Options{Args: []string{"--cookie", raw.Cookie},
		Config: "http: {pprof: true}\n"}, attack: func(a *attempt) {
		for _, path := range []string{"/debug/pprof/cmdline", "/debug/pprof/", "/debug/pprof/goroutine?debug=2", "/metrics",
			"/readyz", "/livez"} {
			answer, err := raw.Get(a.HTTP, path)
			require.NoError(a, err)
			require.NotContains(a, answer, raw.Cookie, path)
		}
	}},
}

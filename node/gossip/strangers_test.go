package gossip_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/gossip"
	"github.com/actornode/actornode/node/nodetest"
)

// maxStream is the longest message that memberlist takes from a stream.
const maxStream = 20 << 20

// opening is the beginning of a stream that announces an encrypted message.
func opening(size int) []byte { return binary.BigEndian.AppendUint32([]byte{10}, uint32(size)) }

// knock opens a stream from an address of this host.
func knock(t *testing.T, ctx context.Context, source, to string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	return d.DialContext(ctx, "tcp", to)
}

// needs skips a test where this host does not have all of 127.0.0.0/8.
func needs(t *testing.T, source string) {
	ln, err := net.Listen("tcp", net.JoinHostPort(source, "0"))
	if err != nil {
		t.Skipf("this host has no address %s (Linux has): %v", source, err)
	}
	ln.Close()
}

// Strangers without a cookie open 40 streams at once and send as much as they are let, less one byte. memberlist alone
// would keep 800 MB of it.
func TestStrangersMemory(t *testing.T) {
	needs(t, "127.0.0.9")
	cfg := config(&logtest.Text{})
	gossip.Linger(&cfg)
	f := finder(t, cfg)
	announce(t, f, "a@127.0.0.1", 1, "127.0.0.1:11")
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that the heap is what is held
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	zeros := make([]byte, 64<<10)
	var busy sync.WaitGroup
	hold := make(chan struct{})
	var held sync.WaitGroup
	for i := range 40 {
		busy.Add(1)
		held.Go(func() {
			conn, err := knock(t, t.Context(), fmt.Sprintf("127.0.0.%d", 2+i/5), f.Addr())
			if err == nil {
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(testkit.Limit))
				_, err = conn.Write(opening(maxStream))
			}
			for left := maxStream - 1; err == nil && left > 0; left -= len(zeros) {
				_, err = conn.Write(zeros[:min(left, len(zeros))])
			}
			busy.Done() // it has sent everything, or was cut off
			<-hold
		})
	}
	over := make(chan struct{})
	go func() { busy.Wait(); close(over) }()
	peak := uint64(0)
	for more := true; more; {
		select {
		case <-over:
			more = false
		case <-time.After(time.Millisecond): // the interval of the samples
		}
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc)
	}
	stats := f.Stats()
	close(hold)
	held.Wait()
	got := int64(peak) - int64(before.HeapAlloc)
	t.Logf("%d MiB at most", got>>20)
	assert.Less(t, got, int64(16*4*4<<20), "16 streams of 4 MiB, in buffers that grow by doubling")
	assert.Positive(t, stats.StreamsCut)
}

// Nodes join through one that strangers from another address keep busy all the time.
func TestMeshAmongStrangers(t *testing.T) {
	t.Parallel()
	needs(t, "127.0.0.2")
	ctx, cancel := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	defer strangers.Wait()
	defer cancel()
	var log logtest.Text
	var nodes []*node.Node
	var seed *gossip.Finder
	var seeds []string
	for i := range testkit.By(8, 20, 50) {
		cfg := config(&log, seeds...)
		gossip.Calm(&cfg)
		f := finder(t, cfg)
		nodes = append(nodes, nodetest.Start(t, node.Config{Name: node.Atom(fmt.Sprintf("n%02d@127.0.0.1", i)), Workers: 1,
			Distribution: &node.Distribution{Cookie: "secret", Finder: f, Mesh: &discovery.Mesh{Backoff: time.Second}}}))
		if i > 0 {
			continue
		}
		seed, seeds = f, []string{f.Addr()}
		for range 40 {
			strangers.Go(func() {
				for ctx.Err() == nil {
					conn, err := knock(t, ctx, "127.0.0.2", seeds[0])
					if err != nil {
						continue
					}
					stop := context.AfterFunc(ctx, func() { conn.Close() })
					conn.Write(opening(maxStream))
					conn.Read(make([]byte, 1)) // until it is closed
					stop()
					conn.Close()
				}
			})
		}
		testkit.Until(t, func() string {
			if s := seed.Stats(); s.StreamsRefused == 0 {
				return "none was refused"
			}
			return ""
		})
	}
	testkit.Until(t, func() string { return meshed(nodes) })
	assert.Contains(t, log.String(), "gossip: refused a TCP connection")
}

// A seed whose answer is longer than a stream may be is not read to the end.
func TestEvilSeed(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	sent := make(chan int, 100)
	go func() { // ends with the listener
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(testkit.Limit))
			total, _ := conn.Write(opening(maxStream))
			for zeros := make([]byte, 64<<10); err == nil && total < maxStream; {
				var n int
				n, err = conn.Write(zeros)
				total += n
			}
			conn.Close()
			select {
			case sent <- total:
			default:
			}
		}
	}()
	log := &logtest.Text{}
	cfg := config(log, ln.Addr().String())
	cfg.MaxStreamBytes = 64 << 10
	f := finder(t, cfg)
	announce(t, f, "a@127.0.0.1", 1, "127.0.0.1:11")
	assert.Less(t, testkit.Receive(t, sent), maxStream)
	log.Await(t, "longer than 65536 bytes")
	log.Await(t, "dialled_here=true")
	assert.Positive(t, f.Stats().StreamsCut)
}

// A stream ends when its time is over, however little is missing, and when the member ends.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	cfg := config(log)
	gossip.Linger(&cfg)
	cfg.StreamTimeout = 100 * time.Millisecond
	f := finder(t, cfg)
	announce(t, f, "a@127.0.0.1", 1, "127.0.0.1:11")
	thrownOut := func(addr string, also func()) {
		conn, err := knock(t, t.Context(), "127.0.0.1", addr)
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write(opening(100))
		require.NoError(t, err)
		also()
		conn.SetDeadline(time.Now().Add(testkit.Limit))
		for err == nil { // an answer may say why
			_, err = conn.Read(make([]byte, 1000))
		}
		nerr, ok := err.(net.Error)
		require.False(t, ok && nerr.Timeout(), "it is still open")
	}
	thrownOut(f.Addr(), func() {})
	log.Await(t, "too long or too slow")
	assert.Equal(t, uint64(1), f.Stats().StreamsCut)

	cfg = config(log)
	gossip.Linger(&cfg)
	cfg.StreamTimeout = time.Hour
	f = finder(t, cfg)
	stop := announce(t, f, "b@127.0.0.1", 1, "127.0.0.1:11")
	thrownOut(f.Addr(), func() {
		testkit.Until(t, func() string {
			if f.Stats().Streams != 1 {
				return "it has no stream"
			}
			return ""
		})
		stop()
	})
	assert.Zero(t, f.Stats())
}

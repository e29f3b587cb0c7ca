package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/bench/internal/pair"
	"github.com/actornode/actornode/bench/peers/grpc/ledger"
)

var remoteCall = pair.Between(contract.Bench{
	Name:   "remote_call",
	About:  "unary calls over one connection with a message of six fields, each answered with a message",
	Params: pair.CallParams(),
	Ops:    func(p contract.Params) int { return p.Int("calls") },
}, runRemoteCall, serveCalls)

const keySize = 16

func newOrder(count int) *ledger.Order {
	key := make([]byte, keySize)
	binary.BigEndian.PutUint64(key, uint64(count))
	return &ledger.Order{Item: "three-inch nails", Count: int64(count), Price: 0.25, Express: count%2 == 0, Key: key,
		To: &ledger.Address{Street: "Long Acre", Number: 14}}
}

// server answers orders.
type server struct {
	ledger.UnimplementedLedgerServer
}

func (server) Enter(_ context.Context, o *ledger.Order) (*ledger.Receipt, error) {
	return &ledger.Receipt{Item: o.Item, Count: o.Count + 1, Total: o.Price * float64(o.Count), Key: o.Key}, nil
}

func runRemoteCall(p contract.Params, m *contract.Meter, conn net.Conn) error {
	channel, err := grpc.NewClient("passthrough:///far", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(once(conn)))
	if err != nil {
		return err
	}
	client := ledger.NewLedgerClient(channel)
	call := func(number int) (int, error) {
		o := newOrder(number)
		r, err := client.Enter(context.Background(), o)
		if err != nil {
			return 0, err
		}
		if r.Item != o.Item || r.Total != o.Price*float64(number) || !bytes.Equal(r.Key, o.Key) {
			return 0, fmt.Errorf("the receipt is %v", r)
		}
		return int(r.Count), nil
	}
	if _, err := call(0); err != nil { // connects, which is not timed
		return errors.Join(err, channel.Close())
	}
	return errors.Join(pair.Calls(p, m, call), channel.Close())
}

// once returns a dialer that returns conn the first time, and then an error: the client has lost it.
func once(conn net.Conn) func(context.Context, string) (net.Conn, error) {
	dialled := make(chan net.Conn, 1)
	dialled <- conn
	return func(context.Context, string) (net.Conn, error) {
		select {
		case conn := <-dialled:
			return conn, nil
		default:
			return nil, errors.New("the connection to the far end is lost")
		}
	}
}

// serveCalls is the far end: it answers until the near end closes.
func serveCalls(_ contract.Params, conn net.Conn) error {
	s := grpc.NewServer()
	ledger.RegisterLedgerServer(s, server{})
	l := &listener{conn: make(chan net.Conn, 1), addr: conn.LocalAddr()}
	l.conn <- &closing{Conn: conn, closed: func() { close(l.conn) }}
	err := s.Serve(l)
	s.GracefulStop()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// listener accepts one connection, and ends with it.
type listener struct {
	conn chan net.Conn // capacity 1
	addr net.Addr
}

func (l *listener) Accept() (net.Conn, error) {
	if conn, ok := <-l.conn; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *listener) Close() error   { return nil }
func (l *listener) Addr() net.Addr { return l.addr }

// closing is a connection that calls closed when it is closed.
type closing struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (c *closing) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

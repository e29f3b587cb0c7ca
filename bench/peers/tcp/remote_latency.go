package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/bench/internal/pair"
)

var remoteLatency = pair.Between(contract.Bench{
	Name:   "remote_latency",
	About:  "two OS processes, one ball",
	Params: []contract.Param{contract.Int("roundtrips", 20_000)},
	Ops:    func(p contract.Params) int { return p.Int("roundtrips") },
}, runRemoteLatency, returnBalls)

// ballSize is that of a ball, which with its length takes 32 bytes.
const ballSize = 28

func runRemoteLatency(p contract.Params, m *contract.Meter, conn net.Conn) error {
	roundtrips := p.Int("roundtrips")
	in, out := bufio.NewReader(conn), make([]byte, 0, lengthSize+ballSize)
	count := 0
	m.Start()
	for left := roundtrips; left > 0; left-- {
		if _, err := conn.Write(appendMessage(out, newMessage(ballSize, left))); err != nil {
			return fmt.Errorf("ball %d: %w", left, err)
		}
		ball, err := read(in, ballSize)
		if err != nil {
			return fmt.Errorf("ball %d did not come back: %w", left, err)
		}
		if len(ball) == ballSize && numberIn(ball) == left {
			count++
		}
	}
	m.Stop()
	if count != roundtrips {
		return fmt.Errorf("%d of %d balls came back", count, roundtrips)
	}
	return nil
}

// returnBalls is the far end: it returns balls until the near end closes.
func returnBalls(_ contract.Params, conn net.Conn) error { return returnEach(conn, func([]byte) {}) }

// returnEach returns balls, after change has seen each, until the near end closes.
func returnEach(conn net.Conn, change func(ball []byte)) error {
	in, out := bufio.NewReader(conn), make([]byte, 0, lengthSize+ballSize)
	for {
		ball, err := read(in, ballSize)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		change(ball)
		if _, err := conn.Write(appendMessage(out, ball)); err != nil {
			return err
		}
	}
}

package main

import (
	"bufio"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestABallThatIsNotTheOneServed(t *testing.T) {
	said := withFar(t, runRemoteLatency, remoteLatency, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for range 3 {
			if _, err := read(in, ballSize); err != nil {
				return
			}
			conn.Write(appendMessage(nil, newMessage(ballSize, 2)))
		}
	}, "roundtrips=3")
	assert.Contains(t, said, "1 of 3 balls came back")
}

func TestABallThatIsLost(t *testing.T) {
	said := withFar(t, runRemoteLatency, remoteLatency, func(conn net.Conn) {
		read(bufio.NewReader(conn), ballSize)
	}, "roundtrips=3")
	assert.Contains(t, said, "ball 3 did not come back: EOF")
}

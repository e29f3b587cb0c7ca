package main

import (
	"bufio"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThroughputSaysWhatItTook(t *testing.T) {
	asOurselves(t)
	r := run(t, "remote_throughput", "messages=1000", "size=100", "senders=4")
	wire, ok := r.Extra.Number("wire_bytes_per_msg")
	require.True(t, ok)
	assert.EqualValues(t, lengthSize+100, wire)
	_, ok = r.Extra.Number("far_peak_rss_mib")
	assert.True(t, ok)
}

func TestAnAnswerThatDoesNotAddUp(t *testing.T) {
	for _, test := range []struct {
		answer tally
		said   string
	}{
		{tally{Total: 5049, Bytes: 6400}, "6400 bytes came, whose numbers add up to 5049; not 6400 and 5050"},
		{tally{Total: 5050, Bytes: 6399}, "6399 bytes came"},
	} {
		said := withFar(t, runRemoteThroughput, remoteThroughput, func(conn net.Conn) {
			in := bufio.NewReader(conn)
			for range 100 {
				read(in, 64)
			}
			assert.NoError(t, test.answer.answer(conn))
		}, "messages=100", "senders=3")
		assert.Contains(t, said, test.said)
	}
}

// The senders have more to send than the far end takes: they must not wait for ever.
func TestAFarEndThatGoesOrTalksNonsense(t *testing.T) {
	for said, far := range map[string]func(net.Conn){
		"the far end does not answer: EOF": func(conn net.Conn) { read(bufio.NewReader(conn), 64) },
		"too long a message": func(conn net.Conn) {
			conn.Write([]byte{255, 255, 255, 255})
			conn.Write([]byte{0}) // nobody reads more: until the near end closes
		},
		"answers with 0 bytes, not 24": func(conn net.Conn) {
			conn.Write([]byte{0, 0, 0, 0})
			conn.Write([]byte{0})
		},
	} {
		assert.Contains(t, withFar(t, runRemoteThroughput, remoteThroughput, far, "messages=100000", "senders=3"), said)
	}
}

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/bench/internal/pair"
)

var remoteThroughput = pair.Between(contract.Bench{
	Name:  "remote_throughput",
	About: "messages to another OS process, until its answer",
	Params: []contract.Param{
		contract.Int("messages", 1_000_000),
		contract.Int("size", 64).Range(numberSize, 1<<24),
		contract.Int("senders", 1),
	},
	Ops: func(p contract.Params) int { return p.Int("messages") },
}, runRemoteThroughput, addUp)

// bufferSize is that of both ends' buffers.
const bufferSize = 64 << 10

func runRemoteThroughput(p contract.Params, m *contract.Meter, conn net.Conn) error {
	messages, size, senders := p.Int("messages"), p.Int("size"), p.Int("senders")
	sent := &tap{Writer: conn}
	o := &outbox{w: bufio.NewWriterSize(sent, bufferSize), senders: senders}
	release := make(chan struct{})
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() { // ends when it has sent its numbers, or the connection is gone
			defer o.leave()
			<-release
			for number := i + 1; number <= messages; number += senders {
				if o.send(newMessage(size, number)) != nil {
					return
				}
			}
		})
	}
	m.Start()
	close(release)
	got, err := readTally(bufio.NewReader(conn))
	m.Stop()
	if err != nil {
		conn.Close() // for senders that would wait for ever
	}
	wg.Wait()
	if err := errors.Join(err, o.w.Flush()); err != nil {
		return err
	}
	if want := uint64(messages * (messages + 1) / 2); got.Total != want || got.Bytes != uint64(messages*size) {
		return fmt.Errorf("%d bytes came, whose numbers add up to %d; not %d and %d", got.Bytes, got.Total, messages*size, want)
	}
	m.Extra("wire_bytes_per_msg", float64(sent.bytes)/float64(messages))
	m.Extra("far_peak_rss_mib", float64(got.PeakRSS)/(1<<20))
	return nil
}

// outbox is what the senders share.
type outbox struct {
	mu      sync.Mutex
	w       *bufio.Writer // of mu; keeps the first error
	senders int           // of mu: the senders that have not ended
}

// send writes a message. What is written goes when the buffer is full, or with leave.
func (o *outbox) send(m []byte) error {
	o.mu.Lock()
	o.w.Write(appendLength(o.w.AvailableBuffer(), m)) // its error is the next one's, too
	_, err := o.w.Write(m)
	o.mu.Unlock()
	return err
}

// leave says that a sender has sent all. The last flushes.
func (o *outbox) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.senders--; o.senders == 0 {
		o.w.Flush() // an error is kept
	}
}

// tap counts what is written.
type tap struct {
	io.Writer
	bytes int
}

func (t *tap) Write(b []byte) (int, error) {
	n, err := t.Writer.Write(b)
	t.bytes += n
	return n, err
}

// tally is the far end's answer: what the numbers that came add up to, how many bytes
// the messages had, and the memory that took, in bytes.
type tally struct{ Total, Bytes, PeakRSS uint64 }

// addUp is the far end: it reads all messages and answers.
func addUp(p contract.Params, conn net.Conn) error {
	messages, size := p.Int("messages"), p.Int("size")
	in := bufio.NewReaderSize(conn, bufferSize)
	var t tally
	for i := range messages {
		m, err := read(in, size)
		if err != nil {
			return fmt.Errorf("after %d of %d messages: %w", i, messages, err)
		}
		t.Total += uint64(numberIn(m))
		t.Bytes += uint64(len(m))
	}
	t.PeakRSS = uint64(contract.PeakRSS())
	return t.answer(conn)
}

// answer sends t, its numbers one behind the other, big-endian.
func (t tally) answer(conn net.Conn) error {
	b, err := binary.Append(nil, binary.BigEndian, t)
	if err == nil {
		_, err = conn.Write(appendMessage(nil, b))
	}
	return err
}

// readTally reads the far end's answer.
func readTally(r *bufio.Reader) (t tally, err error) {
	size := binary.Size(t)
	b, err := read(r, size)
	if err != nil {
		return t, fmt.Errorf("the far end does not answer: %w", err)
	}
	if len(b) != size {
		return t, fmt.Errorf("the far end answers with %d bytes, not %d", len(b), size)
	}
	_, err = binary.Decode(b, binary.BigEndian, &t)
	return t, err
}

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The sizes of a message on the wire and in it.
const (
	lengthSize = 4
	numberSize = 8
)

// errTooLong is about a length that the reader did not ask for.
var errTooLong = errors.New("tcp: too long a message")

// newMessage returns a message of size bytes that says number.
func newMessage(size, number int) []byte {
	m := make([]byte, size)
	binary.BigEndian.PutUint64(m, uint64(number))
	return m
}

// numberIn returns what newMessage was given, -1 if m is too short for any.
func numberIn(m []byte) int {
	if len(m) < numberSize {
		return -1
	}
	return int(binary.BigEndian.Uint64(m))
}

// appendLength appends what stands before a message on the wire.
func appendLength(to, m []byte) []byte {
	return binary.BigEndian.AppendUint32(to, uint32(len(m)))
}

// appendMessage appends the encoding of m.
func appendMessage(to, m []byte) []byte { return append(appendLength(to, m), m...) }

// read returns the next message, newly allocated, of at most most bytes. The error is [io.EOF] at the end of the stream,
// and [io.ErrUnexpectedEOF] in the middle of a message.
func read(r *bufio.Reader, most int) ([]byte, error) {
	head, err := r.Peek(lengthSize)
	if err != nil {
		if len(head) > 0 {
			err = cutShort(err)
		}
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	if uint64(size) > uint64(most) {
		return nil, fmt.Errorf("%w: %d bytes, %d are allowed", errTooLong, size, most)
	}
	r.Discard(lengthSize) // there they are
	m := make([]byte, size)
	_, err = io.ReadFull(r, m)
	return m, cutShort(err)
}

// cutShort makes of the end of the stream one in the middle of a message.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

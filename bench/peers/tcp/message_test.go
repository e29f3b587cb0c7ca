package main

import (
	"bufio"
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessageOnTheWire(t *testing.T) {
	m := newMessage(10, 0x0102)
	assert.Equal(t, []byte{0, 0, 0, 0, 0, 0, 1, 2, 0, 0}, m)
	assert.Equal(t, append([]byte{0, 0, 0, 10}, m...), appendMessage(nil, m))
	assert.Equal(t, 0x0102, numberIn(m))
	assert.Equal(t, -1, numberIn(m[:numberSize-1]))
}

func TestRead(t *testing.T) {
	var wire []byte
	for i := range 3 {
		wire = appendMessage(wire, newMessage(20+i, i))
	}
	for _, source := range []io.Reader{bytes.NewReader(wire), iotest.OneByteReader(bytes.NewReader(wire))} {
		r := bufio.NewReader(source)
		for i := range 3 {
			m, err := read(r, 22)
			require.NoError(t, err)
			assert.Equal(t, newMessage(20+i, i), m)
		}
		_, err := read(r, 22)
		assert.Equal(t, io.EOF, err)
	}
}

func TestReadOfAMessageCutAtEveryByte(t *testing.T) {
	wire := appendMessage(nil, newMessage(20, 1))
	for n := 1; n < len(wire); n++ {
		_, err := read(bufio.NewReader(bytes.NewReader(wire[:n])), 20)
		assert.Equal(t, io.ErrUnexpectedEOF, err, n)
	}
}

func TestReadOfALengthBomb(t *testing.T) {
	for _, wire := range [][]byte{{0, 0, 0, 21}, {255, 255, 255, 255}, {128, 0, 0, 0}} {
		_, err := read(bufio.NewReader(bytes.NewReader(wire)), 20)
		assert.ErrorIs(t, err, errTooLong)
		assert.ErrorContains(t, err, "20 are allowed")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(appendMessage(appendMessage(nil, newMessage(9, 1)), newMessage(20, 2)))
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{255, 0, 0, 20})
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := bufio.NewReader(bytes.NewReader(wire))
		again := []byte{}
		for {
			m, err := read(r, 20)
			if err != nil {
				if err == io.EOF {
					require.Equal(t, wire, again)
				}
				return
			}
			require.LessOrEqual(t, len(m), 20)
			again = appendMessage(again, m)
			require.Equal(t, wire[:len(again)], again)
		}
	})
}

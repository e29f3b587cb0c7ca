package native

import (
	"encoding/binary"
	"hash/crc32"
)

// sumSize is the size of the sum after a frame, on links with a session: a big-endian CRC-32C of all its bytes, including
// the size. Damaged data counts as lost with its connection.
const sumSize = 4

var sumTable = crc32.MakeTable(crc32.Castagnoli)

func appendSum(dst, frame []byte) []byte {
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(frame, sumTable))
}

func sumOf(pieces [][]byte) (sum uint32) {
	for _, p := range pieces {
		sum = crc32.Update(sum, sumTable, p)
	}
	return sum
}

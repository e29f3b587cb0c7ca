package native

import (
	"encoding/binary"
	"hash/crc32"
)

// sumSize is how long the sum behind a frame is, on links that may outlive their
// connections: a CRC-32C in big-endian of all its bytes, the size too. What has been
// damaged on the way counts as lost with its connection.
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

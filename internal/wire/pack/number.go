package pack

import (
	"encoding/binary"
	"math"
)

// AppendInt appends an integer in its shortest form.
func AppendInt(dst []byte, n int64) []byte {
	switch {
	case n >= 0:
		return AppendUint(dst, uint64(n))
	case n >= -32:
		return append(dst, byte(n))
	case n >= math.MinInt8:
		return append(dst, tagInt8, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(dst, tagInt16), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(dst, tagInt32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, tagInt64), uint64(n))
}

// AppendUint appends an integer in its shortest form.
func AppendUint(dst []byte, n uint64) []byte {
	switch {
	case n <= fixIntMax:
		return append(dst, byte(n))
	case n <= math.MaxUint8:
		return append(dst, tagUint8, byte(n))
	case n <= math.MaxUint16:
		return append(dst, tagUint16, byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, tagUint32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, tagUint64), n)
}

func appendFloat(dst []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagFloat64), math.Float64bits(f))
}

// appendBin appends the header of a bin of n bytes.
func appendBin(dst []byte, n int) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(dst, tagBin8, byte(n))
	case n <= math.MaxUint16:
		return append(dst, tagBin16, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, tagBin32), uint32(n))
}

// appendStr appends the header of a str of n bytes.
func appendStr(dst []byte, n int) []byte {
	switch {
	case n < 32:
		return append(dst, fixStr|byte(n))
	case n <= math.MaxUint8:
		return append(dst, tagStr8, byte(n))
	case n <= math.MaxUint16:
		return append(dst, tagStr16, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, tagStr32), uint32(n))
}

// appendCount appends the header of an array or map: fix is its first byte if n is below 16, long if n takes 16 bits, and
// long+1 if it takes 32.
func appendCount(dst []byte, n int, fix, long byte) []byte {
	switch {
	case n < 16:
		return append(dst, fix|byte(n))
	case n <= math.MaxUint16:
		return append(dst, long, byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, long+1), uint32(n))
}

// appendExt appends the header of an extension of n bytes.
func appendExt(dst []byte, kind byte, n int) []byte {
	switch {
	case n == 1:
		return append(dst, tagFixExt1, kind)
	case n == 2:
		return append(dst, tagFixExt2, kind)
	case n == 4:
		return append(dst, tagFixExt4, kind)
	case n == 8:
		return append(dst, tagFixExt8, kind)
	case n == 16:
		return append(dst, tagFixExt16, kind)
	case n <= math.MaxUint8:
		return append(dst, tagExt8, byte(n), kind)
	case n <= math.MaxUint16:
		return append(dst, tagExt16, byte(n>>8), byte(n), kind)
	}
	return append(binary.BigEndian.AppendUint32(append(dst, tagExt32), uint32(n)), kind)
}

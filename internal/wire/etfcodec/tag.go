package etfcodec

import "strconv"

// Version is the first byte of every standalone term. Terms after a distribution header have none.
const Version = 131

// The tags of the format, with the names of OTP's erl_ext_dist document. doc.go has the byte table.
const (
	tagNewFloat     = 70
	tagBitBinary    = 77
	tagCompressed   = 80
	tagAtomCacheRef = 82
	tagNewPID       = 88
	tagNewPort      = 89
	tagNewerRef     = 90
	tagSmallInteger = 97
	tagInteger      = 98
	tagFloat        = 99
	tagAtom         = 100
	tagRef          = 101
	tagPort         = 102
	tagPID          = 103
	tagSmallTuple   = 104
	tagLargeTuple   = 105
	tagNil          = 106
	tagString       = 107
	tagList         = 108
	tagBinary       = 109
	tagSmallBig     = 110
	tagLargeBig     = 111
	tagNewFun       = 112
	tagExport       = 113
	tagNewRef       = 114
	tagSmallAtom    = 115
	tagMap          = 116
	tagAtomUTF8     = 118
	tagSmallAtomU8  = 119
	tagV4Port       = 120
	tagLocal        = 121
)

// Sizes of the fixed parts.
const (
	integerSize   = 1 + 4        // INTEGER_EXT with its tag
	floatTextSize = 31           // FLOAT_EXT: "%.20e", filled up with zeros
	funHeadSize   = 1 + 16 + 8   // NEW_FUN_EXT after the size: arity, uniq, index, number of free variables
	maxString     = 1<<16 - 1    // elements of STRING_EXT
	maxLength     = 1<<32 - 1    // maximum 32-bit length
	maxV3Port     = 1<<28 - 1    // the greatest port number that OTP writes as NEW_PORT_EXT
	maxAtomBytes  = 4 * (1 << 8) // maximum length of an atom
)

var tagNames = map[byte]string{
	117:        "FUN_EXT, gone since OTP 23",
	tagLocal:   "LOCAL_EXT, which only its own node can read",
	68:         "a distribution header",
	69:         "a fragment header",
	70:         "NEW_FLOAT_EXT",
	Version:    "the version byte",
	tagRef:     "REFERENCE_EXT",
	tagPID:     "PID_EXT",
	tagList:    "LIST_EXT",
	tagBinary:  "BINARY_EXT",
	tagInteger: "INTEGER_EXT",
}

// tagName returns a tag for an error message.
func tagName(tag byte) string {
	s := "tag " + strconv.Itoa(int(tag))
	if name, ok := tagNames[tag]; ok {
		s += " (" + name + ")"
	}
	return s
}

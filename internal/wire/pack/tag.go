package pack

// First bytes of objects, according to MessagePack's specification.
const (
	fixIntMax   = 0x7f
	fixMap      = 0x80 // + pairs, up to 15
	fixArray    = 0x90 // + elements, up to 15
	fixStr      = 0xa0 // + bytes, up to 31
	tagNil      = 0xc0
	tagUnused   = 0xc1
	tagFalse    = 0xc2
	tagTrue     = 0xc3
	tagBin8     = 0xc4
	tagBin16    = 0xc5
	tagBin32    = 0xc6
	tagExt8     = 0xc7
	tagExt16    = 0xc8
	tagExt32    = 0xc9
	tagFloat32  = 0xca
	tagFloat64  = 0xcb
	tagUint8    = 0xcc
	tagUint16   = 0xcd
	tagUint32   = 0xce
	tagUint64   = 0xcf
	tagInt8     = 0xd0
	tagInt16    = 0xd1
	tagInt32    = 0xd2
	tagInt64    = 0xd3
	tagFixExt1  = 0xd4
	tagFixExt2  = 0xd5
	tagFixExt4  = 0xd6
	tagFixExt8  = 0xd7
	tagFixExt16 = 0xd8
	tagStr8     = 0xd9
	tagStr16    = 0xda
	tagStr32    = 0xdb
	tagArray16  = 0xdc
	tagArray32  = 0xdd
	tagMap16    = 0xde
	tagMap32    = 0xdf
	negFixInt   = 0xe0 // and above: -32 to -1
)

// Extension types: the table in doc.go.
const (
	extAtom         = 1
	extAtomNew      = 2
	extAtomAt       = 3
	extPID          = 4
	extRef          = 5
	extPort         = 6
	extBig          = 7
	extBits         = 8
	extMark         = 9    // 10 is no longer used
	extTerm         = 119  // a field of type any
	extTime    byte = 0xff // -1, MessagePack's own timestamp
)

// Marks: an extMark with this byte as the first element of an array gives the array's kind.
const (
	markList      = 0
	markImproper  = 1
	markFun       = 2
	markExport    = 3
	markValue     = 4
	markPointer   = 5
	markTyped     = 6
	markReference = 7 // 8 is no longer used
)

// First byte of an identifier's data, if it is not a place of the cache.
const (
	originNew   = 254 // defined here: place:8, creation:32, length:16, name
	originPlain = 255 // without a place: creation:32, length:16, name
)

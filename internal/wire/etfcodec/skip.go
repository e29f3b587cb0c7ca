package etfcodec

// Skip returns the bytes after the bare term at the beginning of b, without building it: it takes no memory, for any depth.
// It examines only lengths: the skipped term may be malformed. A version byte must have been removed; compressed terms have
// one and cannot be skipped.
func Skip(b []byte) (rest []byte, err error) {
	r := reading{b: b}
	for terms := 1; terms > 0; terms-- {
		parts, err := r.skipOne()
		if err != nil {
			return b, err
		}
		if terms += parts; terms-1 > len(b)-r.pos {
			return b, r.failAt(r.pos, ErrCut, "%d terms are to follow, but %d bytes are left", terms-1, len(b)-r.pos)
		}
	}
	return b[r.pos:], nil
}

// skipOne skips a term except its parts, and returns their number.
func (r *reading) skipOne() (parts int, err error) {
	at := r.pos
	tag, err := r.byte("a term")
	if err != nil {
		return 0, err
	}
	n := 0 // bytes to skip
	switch tag {
	case tagNil:
	case tagSmallInteger, tagAtomCacheRef:
		n = 1
	case tagInteger:
		n = 4
	case tagNewFloat:
		n = 8
	case tagFloat:
		n = floatTextSize
	case tagSmallAtom, tagSmallAtomU8:
		n, err = r.byte("the length of an atom")
	case tagAtom, tagAtomUTF8:
		n, err = r.length16("an atom")
	case tagString:
		n, err = r.length16("a string")
	case tagBinary:
		n, err = r.length32("a binary")
	case tagBitBinary:
		n, err = r.length32("a bitstring")
		n++
	case tagSmallBig:
		n, err = r.byte("the length of an integer")
		n++
	case tagLargeBig:
		n, err = r.length32("an integer")
		n++
	case tagSmallTuple:
		parts, err = r.byte("the arity of a tuple")
	case tagLargeTuple:
		parts, err = r.length32("a tuple")
	case tagList:
		parts, err = r.length32("a list")
		parts++
	case tagMap:
		parts, err = r.length32("a map")
		parts *= 2
	case tagExport:
		parts = 3
	case tagNewFun:
		n, err = r.funSize()
	default:
		n, err = r.skipIdentifier(at, byte(tag))
	}
	if err == nil {
		_, err = r.take(n, "a term")
	}
	return parts, err
}

// skipIdentifier skips an identifier up to its last n bytes.
func (r *reading) skipIdentifier(at int, tag byte) (n int, err error) {
	words := 0
	switch tag {
	case tagNewPID, tagV4Port:
		n = 8 + 4
	case tagNewPort:
		n = 4 + 4
	case tagPID:
		n = 8 + 1
	case tagPort, tagRef:
		n = 4 + 1
	case tagNewRef:
		words, err = r.length16("a reference")
		n = 1 + 4*words
	case tagNewerRef:
		words, err = r.length16("a reference")
		n = 4 + 4*words
	default:
		return 0, r.failAt(at, ErrMalformed, "expected the tag of a term, not %s", tagName(tag))
	}
	if err != nil {
		return 0, err
	}
	node := r.pos
	name, err := r.byte("a node's name")
	if err != nil {
		return 0, err
	}
	switch name {
	case tagAtom, tagSmallAtom, tagAtomUTF8, tagSmallAtomU8, tagAtomCacheRef:
		r.pos = node
		_, err = r.skipOne()
		return n, err
	}
	return 0, r.failAt(node, ErrMalformed, "expected the atom of a node's name, not %s", tagName(byte(name)))
}

package pack

// Skip returns the bytes after the term at the beginning of b, without building it. It checks only that all bytes are
// present. If a cache is used, the definitions of a skipped term are lost.
func Skip(b []byte) (rest []byte, err error) {
	s, err := skip(b, 0, MaxDepth)
	if err != nil {
		return b, err
	}
	return b[s.end:], nil
}

// span is the result of skip for an object.
type span struct {
	end      int // the offset after it
	elements int // total elements of arrays and maps
}

// skip finds the end of the object at offset from.
func skip(b []byte, from, depth int) (s span, err error) {
	r := reading{b: b, pos: from}
	var buf [32]int
	left := append(buf[:0], 1) // remaining objects at each open level
	for len(left) > 0 {
		top := &left[len(left)-1]
		if *top == 0 {
			left = left[:len(left)-1]
			continue
		}
		*top--
		n, err := r.skipHead()
		if err != nil {
			return s, err
		}
		if n == 0 {
			continue
		}
		if n > len(b)-r.pos {
			return s, r.cut(n, "the elements of an array or a map")
		}
		if len(left) > depth {
			return s, r.failAt(r.pos, ErrLimit, "terms nested deeper than %d levels", depth)
		}
		s.elements += n
		left = append(left, n)
	}
	s.end = r.pos
	return s, nil
}

// skipHead skips an object except its elements, and returns their number.
func (r *reading) skipHead() (n int, err error) {
	if r.pos >= len(r.b) {
		return 0, r.cut(1, "a term")
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	size := 0 // bytes to skip
	switch {
	case tag <= fixIntMax || tag >= negFixInt || tag >= tagNil && tag <= tagTrue && tag != tagUnused:
		return 0, nil
	case tag < fixArray:
		return 2 * int(tag&15), nil
	case tag < fixStr:
		return int(tag & 15), nil
	case tag < tagNil:
		size = int(tag & 31)
	case tag == tagUnused:
		return 0, r.failAt(at, ErrMalformed, "the byte 0xc1, which begins no term")
	case tag <= tagBin32:
		size, err = r.length(tag-tagBin8, "a binary")
	case tag <= tagExt32:
		size, err = r.length(tag-tagExt8, "an extension")
		size++
	case tag <= tagFloat64:
		size = 4 << (tag - tagFloat32)
	case tag <= tagInt64:
		size = 1 << ((tag - tagUint8) & 3)
	case tag <= tagFixExt16:
		size = 1 + 1<<(tag-tagFixExt1)
	case tag <= tagStr32:
		size, err = r.length(tag-tagStr8, "a string")
	case tag <= tagArray32:
		return r.length(tag-tagArray16+1, "an array")
	default:
		n, err = r.length(tag-tagMap16+1, "a map")
		return 2 * n, err
	}
	if err != nil {
		return 0, err
	}
	_, err = r.take(size, "a term")
	return 0, err
}

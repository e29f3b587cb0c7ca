package pack

// Skip returns the bytes behind the term that b begins with, without building it.
// What it holds is checked no further than that all its bytes are there. If a
// cache is used, a term that is skipped is lost to it.
func Skip(b []byte) (rest []byte, err error) {
	s, err := skip(b, 0, MaxDepth)
	if err != nil {
		return b, err
	}
	return b[s.end:], nil
}

// span is what skip returns about an object.
type span struct {
	end      int // the offset behind it
	elements int // of arrays and maps, in all
}

// skip finds where the object at an offset ends.
func skip(b []byte, from, depth int) (s span, err error) {
	r := reading{b: b, pos: from}
	var buf [32]int
	left := append(buf[:0], 1) // objects to come, at each level that is open
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

// skipHead skips an object but for its elements, and returns how many there are.
func (r *reading) skipHead() (n int, err error) {
	if r.pos >= len(r.b) {
		return 0, r.cut(1, "a term")
	}
	at, tag := r.pos, r.b[r.pos]
	r.pos++
	size := 0 // of what follows, bytes
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

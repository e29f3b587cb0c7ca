package etfcodec

import "github.com/actornode/actornode/wire"

// maxBeginning is the maximum number of examined elements of a tuple: a request has three.
const maxBeginning = 3

// Beginning returns the readable part of a bare term for which DecodeBare has returned [ErrLimit]: for a tuple of 2 or 3
// elements, the elements before the first unreadable one, and nil for the others; otherwise nil.
func (d *Decoder) Beginning(b []byte) any {
	if len(b) < 2 || b[0] != tagSmallTuple || b[1] < 2 || b[1] > maxBeginning {
		return nil
	}
	t := make(wire.Tuple, b[1])
	b = b[2:]
	for i := range t {
		var err error
		if t[i], b, err = d.DecodeBare(b); err != nil {
			t[i] = nil
			break
		}
	}
	return t
}

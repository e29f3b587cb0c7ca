package growth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"runtime/coverage"
	"testing"

	"github.com/stretchr/testify/require"
)

// operation is an entry of the list.
type operation struct {
	name string
	most float64 // maximum ratio of the costs with ten times as many others; 0 means 2
	// run does it n times, with n others present, between m.begin and m.end, and waits for its effects.
	run func(t *testing.T, m *meter, n int)
}

// The numbers of others.
const (
	few  = 200
	many = 10 * few
)

// tries is how often an operation is measured. The minimum counts, since other activity only adds cost.
const tries = 3

// Test measures all operations. It counts their steps if the program was built with go build -cover.
func Test(t *testing.T) {
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			small, large := o.cost(t, few), o.cost(t, many)
			most := o.most
			if most == 0 {
				most = 2
			}
			for _, c := range []struct {
				what         string
				small, large float64
				least        float64 // differences below are noise
			}{
				{"bytes", small.bytes, large.bytes, 64}, {"steps", small.steps, large.steps, 64},
			} {
				t.Logf("%s: %.0f with %d others, %.0f with %d", c.what, c.small, few, c.large, many)
				if c.large > most*max(c.small, c.least) {
					t.Errorf("one costs %.0f %s with %d others, and %.0f with %d: more than %v times as much", c.small, c.what, few, c.large,
						many, most)
				}
			}
		})
	}
}

// meter measures the cost between begin and end.
type meter struct {
	t                  *testing.T
	bytesWas, stepsWas uint64
	bytes, steps       uint64
}

// begin starts or resumes measuring.
func (m *meter) begin() {
	runtime.GC() // pending sweeps and finalizers must not count
	m.stepsWas = steps(m.t)
	m.bytesWas = allocated()
}

// end stops measuring.
func (m *meter) end() {
	m.bytes += allocated() - m.bytesWas
	m.steps += steps(m.t) - m.stepsWas
}

// spent is the cost of one operation.
type spent struct{ bytes, steps float64 }

// cost measures o with n others.
func (o *operation) cost(t *testing.T, n int) (least spent) {
	for i := range tries {
		var m meter
		t.Run("", func(t *testing.T) { // everything started ends with it
			m.t = t
			o.run(t, &m, n)
		})
		if t.Failed() {
			t.FailNow()
		}
		c := spent{float64(m.bytes) / float64(n), float64(m.steps) / float64(n)}
		if i == 0 {
			least = c
		}
		least = spent{min(least.bytes, c.bytes), min(least.steps, c.steps)}
	}
	return least
}

func allocated() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// steps returns how many blocks of code have been entered, or 0 if they are not counted.
func steps(t *testing.T) uint64 {
	var b bytes.Buffer
	if coverage.WriteCounters(&b) != nil {
		return 0
	}
	n, err := sum(b.Bytes())
	require.NoError(t, err)
	return n
}

// The sizes of the headers of a counter file and of its segment: see internal/coverage of Go.
const (
	fileHead    = 32
	segmentHead = 16
)

var errCounters = errors.New("growth: these counters have another form")

// sum adds up the counters of a file: for each function their count, two numbers, and the counters, in LEB128.
func sum(b []byte) (n uint64, err error) {
	if len(b) < fileHead+segmentHead || !bytes.Equal(b[:4], []byte{0, 'c', 'w', 'm'}) {
		return 0, errCounters
	}
	head := b[fileHead:]
	functions := binary.LittleEndian.Uint64(head)
	before := uint64(segmentHead) + uint64(binary.LittleEndian.Uint32(head[8:])) + uint64(binary.LittleEndian.Uint32(head[12:]))
	if before > uint64(len(head)) {
		return 0, errCounters
	}
	b = head[before:]
	next := func() (v uint64) {
		k := 0
		if v, k = binary.Uvarint(b); k <= 0 {
			err = errCounters
			return 0
		}
		b = b[k:]
		return v
	}
	for range functions {
		counters := next()
		next() // the package
		next() // the function
		for range counters {
			if n += next(); err != nil {
				return 0, err
			}
		}
	}
	return n, err
}

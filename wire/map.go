package wire

import (
	"iter"
	"slices"
)

// Map is an Erlang map. Any term may be a key. Keys are compared with [Equal], hence 1 and int64(1) are one key, 1 and 1.0
// are two.
//
// A Map is a reference, like Go's maps: copies share the pairs, and [Map.Clone] makes an independent one. The zero Map is
// empty and ready to use; the first Put allocates a body for that variable only. Many goroutines may read a Map
// concurrently; a write needs exclusive access, and so does a change of a mutable key or value (a List, a []byte).
//
// Up to 32 pairs are a sorted slice, as in Erlang; more are hashed.
type Map struct{ body *mapBody }

// pair is a key of a Map with its value.
type pair struct{ Key, Value any }

// NewMap returns the map of the given keys and values, which alternate; for a duplicate key the last value is used. It
// panics on an odd number of arguments, like strings.NewReplacer.
func NewMap(keysAndValues ...any) Map {
	if len(keysAndValues)%2 != 0 {
		panic("wire: NewMap: the last key has no value")
	}
	m := MakeMap(len(keysAndValues) / 2)
	for i := 0; i < len(keysAndValues); i += 2 {
		m.Put(keysAndValues[i], keysAndValues[i+1])
	}
	return m
}

// MakeMap returns an empty map with capacity for n pairs. A decoder must first bound n by the remaining input.
func MakeMap(n int) Map {
	switch {
	case n <= 0:
		return Map{&mapBody{}}
	case n <= 1:
		m := new(joined[[1]pair])
		return m.over(m.mem[:])
	case n <= 2:
		m := new(joined[[2]pair])
		return m.over(m.mem[:])
	case n <= 3:
		m := new(joined[[3]pair])
		return m.over(m.mem[:])
	case n <= 4:
		m := new(joined[[4]pair])
		return m.over(m.mem[:])
	case n <= 6:
		m := new(joined[[6]pair])
		return m.over(m.mem[:])
	case n <= 8:
		m := new(joined[[8]pair])
		return m.over(m.mem[:])
	case n <= 12:
		m := new(joined[[12]pair])
		return m.over(m.mem[:])
	case n <= 16:
		m := new(joined[[16]pair])
		return m.over(m.mem[:])
	case n <= 24:
		m := new(joined[[24]pair])
		return m.over(m.mem[:])
	case n <= maxSorted:
		m := new(joined[[maxSorted]pair])
		return m.over(m.mem[:])
	}
	b := &mapBody{pairs: make([]pair, 0, n)}
	b.hashAll(n)
	return Map{b}
}

// joined is a body with memory for its pairs in one allocation.
type joined[A any] struct {
	mapBody
	mem A
}

// over returns the empty map that uses mem.
func (b *mapBody) over(mem []pair) Map {
	b.pairs = mem[:0]
	return Map{b}
}

// Len returns the number of pairs.
func (m Map) Len() int {
	if m.body == nil {
		return 0
	}
	return len(m.body.pairs)
}

// Get returns the value of key, and whether the key exists.
func (m Map) Get(key any) (value any, ok bool) {
	if m.body == nil {
		return nil, false
	}
	if i := m.body.find(key); i >= 0 {
		return m.body.pairs[i].Value, true
	}
	return nil, false
}

// Put sets the value of key. The key must not be modified afterwards. Scalar keys are stored in the form that decoders use:
// an int8 as an int, a bool as an Atom.
func (m *Map) Put(key, value any) {
	if m.body == nil {
		m.body = &mapBody{}
	}
	m.body.put(plainKey(key), value)
}

// Delete removes key and reports whether it existed.
func (m Map) Delete(key any) bool {
	if m.body == nil {
		return false
	}
	i := m.body.find(key)
	if i >= 0 {
		m.body.remove(i)
	}
	return i >= 0
}

// All returns the pairs in key order, which is the order of [Compare] with all
// integers before all floats, at every depth. The map must not be modified during the iteration. A map of more than 32
// pairs is sorted for each call.
func (m Map) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if m.body != nil {
			yieldPairs(m.body.ordered().pairs, yield)
		}
	}
}

// Unordered returns the pairs in an unspecified order, without sorting. The map must not be modified during the iteration.
func (m Map) Unordered() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if m.body != nil {
			yieldPairs(m.body.pairs, yield)
		}
	}
}

func yieldPairs(pairs []pair, yield func(any, any) bool) {
	for i := range pairs {
		if !yield(pairs[i].Key, pairs[i].Value) {
			return
		}
	}
}

// Clone returns a map of the same pairs. It shares only the keys and values themselves.
func (m Map) Clone() Map {
	c := MakeMap(m.Len())
	for k, v := range m.Unordered() {
		c.Put(k, v)
	}
	return c
}

// String prints m as [Format] does.
func (m Map) String() string { return Format(m) }

// maxSorted is the maximum size of a map that is a sorted slice: MAP_SMALL_MAP_LIMIT of the BEAM.
const maxSorted = 32

// mapBody is the data that copies of a Map share.
//
//  1. No two keys are Equal.
//  2. While index is nil, pairs is sorted by compare in mode exact and holds at
//     most maxSorted pairs; links is nil.
//  3. Otherwise links[i] belongs to pairs[i], and from index[links[i].hash] a
//     chain of links leads to i. A body that is hashed once stays so.
//  4. ties is set if two different keys without a defined order (foreign values) were added. Equal maps may then hold them
//     in different orders.
//  5. Reading changes nothing.
type mapBody struct {
	pairs []pair
	ties  bool
	index map[uint64]int
	links []link
}

type link struct {
	hash uint64
	next int // the next pair with this hash, or -1
}

// find returns the index of key's pair, or -1 if there is none.
func (b *mapBody) find(key any) int {
	if b.index != nil {
		return b.lookUp(key, hashOf(key))
	}
	if k, ok := key.(Atom); ok {
		for i := range b.pairs {
			if a, ok := b.pairs[i].Key.(Atom); ok && a == k {
				return i
			}
		}
		return -1
	}
	i, _, ok := b.search(key)
	if !ok {
		return -1
	}
	return i
}

// search finds key among sorted pairs: its index if ok, else the index to insert it at. ties reports whether different keys
// tie with it there.
func (b *mapBody) search(key any) (i int, ties, ok bool) {
	lo, hi := 0, len(b.pairs)
	if hi > 0 && compare(b.pairs[hi-1].Key, key, exact) < 0 {
		return hi, false, false // pairs are often added in order
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if compare(b.pairs[mid].Key, key, exact) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; lo < len(b.pairs) && compare(b.pairs[lo].Key, key, exact) == 0; lo++ {
		if Equal(b.pairs[lo].Key, key) {
			return lo, ties, true
		}
		ties = true
	}
	return lo, ties, false
}

func (b *mapBody) lookUp(key any, hash uint64) int {
	i, ok := b.index[hash]
	if !ok {
		return -1
	}
	for i >= 0 && !Equal(b.pairs[i].Key, key) {
		i = b.links[i].next
	}
	return i
}

func (b *mapBody) put(key, value any) {
	if b.index != nil {
		b.putHashed(key, value)
		return
	}
	i, ties, ok := b.search(key)
	switch {
	case ok:
		b.pairs[i].Value = value
	case len(b.pairs) == maxSorted:
		b.hashAll(2 * maxSorted)
		b.putHashed(key, value)
	default:
		b.ties = b.ties || ties
		b.pairs = slices.Insert(b.pairs, i, pair{key, value})
	}
}

func (b *mapBody) putHashed(key, value any) {
	h := hashOf(key)
	if i := b.lookUp(key, h); i >= 0 {
		b.pairs[i].Value = value
		return
	}
	b.pairs = append(b.pairs, pair{key, value})
	b.chain(h)
}

// chain links the last pair into the chain of hash h.
func (b *mapBody) chain(h uint64) {
	next, ok := b.index[h]
	if !ok {
		next = -1
	}
	b.index[h] = len(b.links)
	b.links = append(b.links, link{h, next})
}

// hashAll turns a sorted body into a hashed one with capacity for n pairs.
func (b *mapBody) hashAll(n int) {
	b.index = make(map[uint64]int, n)
	b.links = make([]link, 0, n)
	for i := range b.pairs {
		b.chain(hashOf(b.pairs[i].Key))
	}
}

// remove deletes pair i; in a hashed body the last pair moves to its place.
func (b *mapBody) remove(i int) {
	if b.index == nil {
		b.pairs = slices.Delete(b.pairs, i, i+1)
		return
	}
	b.relink(i, b.links[i].next)
	last := len(b.pairs) - 1
	if i != last {
		b.relink(last, i)
		b.pairs[i], b.links[i] = b.pairs[last], b.links[last]
	}
	b.pairs[last] = pair{}
	b.pairs, b.links = b.pairs[:last], b.links[:last]
}

// relink redirects the link to pair i to pair to.
func (b *mapBody) relink(i, to int) {
	h := b.links[i].hash
	if j := b.index[h]; j != i {
		for b.links[j].next != i {
			j = b.links[j].next
		}
		b.links[j].next = to
	} else if to >= 0 {
		b.index[h] = to
	} else {
		delete(b.index, h)
	}
}

// unordered reports whether the pairs of an equal map may be in another order.
func (b *mapBody) unordered() bool { return b.index != nil || b.ties }

// ordered returns a body whose pairs are in key order: b itself if it is sorted, else a sorted copy that may only be
// iterated over.
func (b *mapBody) ordered() *mapBody {
	if b.index == nil {
		return b
	}
	pairs := slices.Clone(b.pairs)
	slices.SortStableFunc(pairs, func(x, y pair) int { return compare(x.Key, y.Key, exact) })
	return &mapBody{pairs: pairs}
}

// aligned returns a body of b's pairs in the order of a's keys, which may only be iterated over, or nil if a has a key that
// b lacks.
func (b *mapBody) aligned(a *mapBody) *mapBody {
	pairs := make([]pair, len(a.pairs))
	for i := range a.pairs {
		var j int
		if a.index != nil && b.index != nil {
			j = b.lookUp(a.pairs[i].Key, a.links[i].hash)
		} else {
			j = b.find(a.pairs[i].Key)
		}
		if j < 0 {
			return nil
		}
		pairs[i] = b.pairs[j]
	}
	return &mapBody{pairs: pairs}
}

// plainKey returns a scalar key in the form that decoders use.
func plainKey(key any) any {
	key = bare(key)
	switch k := key.(type) {
	case Atom, int, float64, string:
		return key
	case bool:
		return atomOf(k)
	}
	switch x := numOf(key); x.kind {
	case numSmall:
		if n := int(x.small); int64(n) == x.small {
			return n
		}
	case numFloat:
		return x.float
	}
	return key
}

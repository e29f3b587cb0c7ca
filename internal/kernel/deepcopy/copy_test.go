package deepcopy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/deepcopy"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

type (
	item struct {
		Name string
		tags []string
		next *item
	}
	bag struct {
		Any   any
		Items []*item
		byKey map[string]*item
		Pair  [2]*int
		at    time.Time
		pid   wire.PID
		T     wire.Tuple
		M     wire.Map
	}
	frozen    struct{ p *int }
	farFrozen struct{ p *int }
	counted   struct {
		n    atomic.Int64
		list []int
	}
	locked struct {
		mu sync.Mutex
		m  map[int]int
	}
	declared struct {
		F func() `isolation:"share"`
		L locked `isolation:"share"`
		S []int
	}
	named map[string]int
)

func (frozen) Immutable()     {}
func (*farFrozen) Immutable() {}

// A value with nothing mutable in it is not copied at all, and a value whose kind is shared stays the same value.
func TestShared(t *testing.T) {
	one, ch := 1, make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &counted{list: []int{1}}
	for _, v := range []any{
		nil, 5, "x", true, 2.5, time.Now(),
		wire.NewOrigin(wire.NodeID{Name: "a@b"}).PID(1), [2]string{"a"}, struct{ A, b string }{"a", "b"},
		ch, ctx, io.EOF, &os.PathError{Op: "x"}, reflect.TypeFor[int](), regexp.MustCompile("a"), time.UTC,
		frozen{&one}, &frozen{&one}, &farFrozen{&one}, c, &locked{}, &sync.Mutex{}, os.Stdout, weak.Make(c),
	} {
		got, err := deepcopy.Copy(v)
		require.NoError(t, err, "%T", v)
		require.Equal(t, reflect.ValueOf(v), reflect.ValueOf(got), "%T", v)
		if reflect.ValueOf(v).Kind() == reflect.Pointer {
			require.Same(t, v, got)
		}
	}
	c.n.Add(1)
	(&locked{}).mu.Lock()
	require.Zero(t, bag{}.pid)
	got, err := deepcopy.Copy([]any{c, ch, io.EOF})
	require.NoError(t, err)
	require.Same(t, c, got.([]any)[0])
	require.Equal(t, ch, got.([]any)[1])
	require.Equal(t, io.EOF, got.([]any)[2])
}

// A value that cannot be copied is reported with its path.
func TestRefused(t *testing.T) {
	f := func() {}
	for _, c := range []struct {
		v    any
		want string
	}{
		{f, "it is a func(), which cannot be copied: a function may have captured anything"},
		{[]any{1, map[string]any{"a": struct{ F func() }{f}}}, `[1]["a"].F is a func(), which`},
		{locked{}, "it is a deepcopy_test.locked, which cannot be copied: it holds a lock or an atomic, and is no pointer"},
		{struct{ A []counted }{make([]counted, 2)}, ".A[0] is a deepcopy_test.counted"},
		{struct{ p unsafe.Pointer }{unsafe.Pointer(&f)}, ".p is a unsafe.Pointer, which cannot be copied: nobody knows"},
		{struct{ R *bufio.Reader }{bufio.NewReader(nil)}, ".R is a bufio.Reader, which cannot be copied: the standard library"},
		{map[any]int{[1]any{&struct{ F func() }{f}}: 1}, "[[0x"},
		{rand.New(rand.NewPCG(1, 2)), "rand.Rand"},
		{[]any{weak.Make(&f)}, "[0] is a weak.Pointer[func()], which cannot be copied: a copy of what a weak pointer leads to"},
	} {
		got, err := deepcopy.Copy(c.v)
		require.ErrorContains(t, err, c.want, "%T", c.v)
		require.Nil(t, got)
		var e *deepcopy.Error
		require.ErrorAs(t, err, &e)
	}
	none, err := deepcopy.Copy(struct {
		F func()
		P unsafe.Pointer
		L []int
	}{})
	require.NoError(t, err)
	require.Nil(t, reflect.ValueOf(none).Field(0).Interface())
	var deep any
	for range 150_000 {
		deep = []any{deep}
	}
	_, err = deepcopy.Copy(deep)
	require.ErrorContains(t, err, "more than 100000 deep")
	require.Less(t, len(err.Error()), 2000)
}

// A field with the tag is shared.
func TestTag(t *testing.T) {
	called := false
	d := &declared{F: func() { called = true }, S: []int{1}}
	d.L.m = map[int]int{1: 2}
	got, err := deepcopy.Of(d)
	require.NoError(t, err)
	got.F()
	require.True(t, called)
	got.S[0] = 2
	require.Equal(t, 1, d.S[0])
}

func TestCopies(t *testing.T) {
	n := 7
	i := &item{Name: "a", tags: []string{"x"}}
	i.next = i
	b := &bag{Any: map[string]any{"i": i}, Items: []*item{i, i}, byKey: map[string]*item{"i": i}, Pair: [2]*int{&n, &n},
		at: time.Now(), pid: wire.PID{}, T: wire.Tuple{wire.Atom("a"), []byte("b")}, M: wire.NewMap("k", []byte("v"))}
	got, err := deepcopy.Of(b)
	require.NoError(t, err)
	isomorphic(t, b, got)
	require.Same(t, got.Items[0], got.Items[1])
	require.Same(t, got.Items[0], got.Items[0].next)
	require.Same(t, got.Items[0], got.byKey["i"])
	require.Same(t, got.Pair[0], got.Pair[1])
	require.Equal(t, b.at, got.at)
	v, ok := got.M.Get("k")
	require.True(t, ok)
	v.([]byte)[0] = 'x'
	before, _ := b.M.Get("k")
	require.Equal(t, []byte("v"), before)

	s := make([]int, 2, 10)
	c, err := deepcopy.Of(s)
	require.NoError(t, err)
	require.Equal(t, 2, cap(c))
	e, err := deepcopy.Of(s[:0])
	require.NoError(t, err)
	require.NotNil(t, e)
	require.Zero(t, cap(e))
	for _, v := range []any{
		big.NewInt(1).Lsh(big.NewInt(1), 200), bytes.NewBufferString("abc"), &url.URL{Host: "h", User: url.User("u")}, named{"a": 1},
		map[string]string{"a": "b"}, map[float64][]int{1: {2}}, []string{"a"}, [][]byte{[]byte("x")},
		[3]*int{&n}, struct{ p *int }{&n}, &n,
		map[[2]int]map[string]bool{{1, 2}: {"a": true}}, []uint16{1, 2, 3}, []struct{ a, b uint16 }{{1, 2}}, []struct {
			a uint8
			b []int
		}{{1, []int{2}}},
		[]struct{}{{}, {}}, (*int)(nil), &struct{}{}, &[]*int{nil, &n}, map[string]any{"a": []any{1, "b", nil, 2.5}},
	} {
		got, err := deepcopy.Copy(v)
		require.NoError(t, err)
		isomorphic(t, v, got)
		got, err = deepcopy.Of(v) // of an any
		require.NoError(t, err)
		isomorphic(t, v, got)
	}
	_, err = deepcopy.Of[any](nil)
	require.NoError(t, err)
	refused, err := deepcopy.Of[any](func() {})
	require.Error(t, err)
	require.Nil(t, refused)
	var sb strings.Builder
	sb.WriteString("ab")
	to, err := deepcopy.Of(&sb)
	require.NoError(t, err)
	to.WriteString("c")
	require.Equal(t, "ab", sb.String())
	require.Equal(t, "abc", to.String())
}

// isomorphic fails unless the two values are equal, each reference of one has its twin in the other, and no reference
// that leads to something mutable is the same in both. It knows nothing of plans.
func isomorphic(t *testing.T, a, b any) {
	t.Helper()
	w := walker{there: map[place]unsafe.Pointer{}, back: map[place]unsafe.Pointer{}}
	require.NoError(t, w.walk(reflect.ValueOf(a), reflect.ValueOf(b)))
}

type place struct {
	p unsafe.Pointer
	t reflect.Type
	n int
}

type walker struct{ there, back map[place]unsafe.Pointer }

var errApart = errors.New("not the same")

func (w *walker) pair(a, b unsafe.Pointer, t reflect.Type, n int) (met bool, err error) {
	if a == b {
		return false, errors.New("shared: " + t.String())
	}
	x, y := w.there[place{a, t, n}], w.back[place{b, t, n}]
	switch {
	case x == nil && y == nil:
		w.there[place{a, t, n}], w.back[place{b, t, n}] = b, a
		return false, nil
	case x != b || y != a:
		return false, errors.New("not the same sharing: " + t.String())
	}
	return true, nil
}

func (w *walker) walk(a, b reflect.Value) error {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return errApart
	}
	if !a.IsValid() {
		return nil
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return nilBoth(a, b)
		}
		if a.Type().Elem().Size() == 0 || a.Type() == reflect.TypeFor[*time.Location]() {
			return nil
		}
		if met, err := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type(), 0); met || err != nil {
			return err
		}
		return w.walk(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.IsNil() || b.IsNil() {
			return nilBoth(a, b)
		}
		if a.Len() != b.Len() {
			return errApart
		}
		if a.Len() > 0 && a.Type().Elem().Size() > 0 {
			if met, err := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type(), a.Len()); met || err != nil {
				return err
			}
		}
		return w.elems(a, b)
	case reflect.Array:
		return w.elems(a, b)
	case reflect.Map:
		return w.maps(a, b)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return nilBoth(a, b)
		}
		return w.walk(a.Elem(), b.Elem())
	case reflect.Struct:
		if a.Type().PkgPath() == "unique" {
			return nil
		}
		for i := range a.NumField() {
			if err := w.walk(a.Field(i), b.Field(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if !a.Equal(b) && a.Equal(a) {
		return errApart
	}
	return nil
}

func nilBoth(a, b reflect.Value) error {
	if a.IsNil() != b.IsNil() {
		return errApart
	}
	return nil
}

func (w *walker) elems(a, b reflect.Value) error {
	for i := range a.Len() {
		if err := w.walk(a.Index(i), b.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) maps(a, b reflect.Value) error {
	if a.IsNil() || b.IsNil() {
		return nilBoth(a, b)
	}
	if a.Len() != b.Len() {
		return errApart
	}
	if met, err := w.pair(a.UnsafePointer(), b.UnsafePointer(), a.Type(), 0); met || err != nil {
		return err
	}
	for i := a.MapRange(); i.Next(); {
		v := b.MapIndex(i.Key())
		if !v.IsValid() {
			return errApart
		}
		if err := w.walk(i.Value(), v); err != nil {
			return err
		}
	}
	return nil
}

// Random values of random types, with much sharing and many cycles, are copied faithfully. A snapshot finds no change
// as long as nobody changes the value, and the exact place when somebody does.
func TestRandom(t *testing.T) {
	r := testkit.Rand(t)
	for range 3000 {
		g := &maker{r: r, pool: make(map[reflect.Type][]reflect.Value)}
		typ := g.typ(3)
		v := reflect.New(typ)
		for range 3 { // more than once, so that later parts lead to earlier ones
			g.fill(v.Elem(), 4)
		}
		got, err := deepcopy.Copy(v.Interface())
		require.NoError(t, err)
		isomorphic(t, v.Interface(), got)
		value, err := deepcopy.Copy(v.Elem().Interface())
		require.NoError(t, err)
		isomorphic(t, v.Elem().Interface(), value)

		s := deepcopy.Take(v.Interface(), 1<<20)
		if s == nil {
			continue
		}
		require.False(t, s.Cut())
		require.Nil(t, s.Compare(), "%v", typ)
		if path, change := g.place(v.Elem(), "", make(map[unsafe.Pointer]bool)); change != nil {
			change()
			d := s.Compare()
			require.NotNil(t, d, "%v: %s", typ, path)
		}
	}
}

// ring and tree can hold themselves; types made by reflect cannot.
type (
	ring struct {
		N     int
		Next  *ring
		Other *tree
		Any   any
	}
	tree struct {
		Text     string
		Children []tree
		Parent   *tree
		ByName   map[string]*tree
		Rings    []*ring
	}
)

type maker struct {
	r    *rand.Rand
	pool map[reflect.Type][]reflect.Value // references made so far, to be used again
}

var leaves = []reflect.Type{
	reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[uint8](),
	reflect.TypeFor[int16](), reflect.TypeFor[time.Time](), reflect.TypeFor[any](), reflect.TypeFor[ring](), reflect.TypeFor[tree](),
	reflect.TypeFor[complex128](), reflect.TypeFor[struct{}](),
}

func (g *maker) typ(depth int) reflect.Type {
	if depth == 0 {
		return leaves[g.r.IntN(len(leaves))]
	}
	switch g.r.IntN(6) {
	case 0:
		return reflect.PointerTo(g.typ(depth - 1))
	case 1:
		return reflect.SliceOf(g.typ(depth - 1))
	case 2:
		keys := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int](),
			reflect.TypeFor[[2]uint8](), reflect.TypeFor[float64]()}
		return reflect.MapOf(keys[g.r.IntN(len(keys))], g.typ(depth-1))
	case 3:
		return reflect.ArrayOf(g.r.IntN(4), g.typ(depth-1))
	case 4:
		return g.typ(0)
	}
	fields := make([]reflect.StructField, 1+g.r.IntN(4))
	for i := range fields {
		fields[i] = reflect.StructField{Name: "F" + string(rune('A'+i)), Type: g.typ(depth - 1)}
	}
	return reflect.StructOf(fields)
}

// fill gives v, which must be settable, a value.
func (g *maker) fill(v reflect.Value, depth int) {
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if old := g.pool[t]; len(old) > 0 && g.r.IntN(3) == 0 || depth <= 0 {
			if len(old) > 0 {
				v.Set(old[g.r.IntN(len(old))])
			}
			return
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		g.pool[t] = append(g.pool[t], reflect.ValueOf(v.Interface()))
		g.fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, g.r.IntN(4), 6))
		g.pool[t] = append(g.pool[t], reflect.ValueOf(v.Interface()))
		for i := range v.Len() {
			g.fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		g.pool[t] = append(g.pool[t], reflect.ValueOf(v.Interface()))
		for range g.r.IntN(4) {
			k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			g.fill(k, depth-1)
			g.fill(e, depth-1)
			v.SetMapIndex(k, e)
		}
	case reflect.Array:
		for i := range v.Len() {
			g.fill(v.Index(i), depth-1)
		}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(g.r.Int64N(1<<40), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			g.fill(v.Field(i), depth-1)
		}
	case reflect.Interface:
		in := reflect.New(g.typ(min(max(depth, 0), 1))).Elem()
		g.fill(in, depth-1)
		v.Set(in)
	case reflect.String:
		v.SetString(strings.Repeat("x", g.r.IntN(5)))
	case reflect.Bool:
		v.SetBool(g.r.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(g.r.Float64())
	case reflect.Complex128:
		v.SetComplex(complex(g.r.Float64(), 1))
	case reflect.Uint8:
		v.SetUint(g.r.Uint64N(256))
	default:
		v.SetInt(g.r.Int64N(1 << 15))
	}
}

// place finds a number reachable from v, and returns a function that changes it.
func (g *maker) place(v reflect.Value, path string, met map[unsafe.Pointer]bool) (string, func()) {
	switch v.Kind() {
	case reflect.Int, reflect.Int16:
		if v.CanSet() {
			return path, func() { v.SetInt(v.Int() ^ 1) }
		}
	case reflect.Pointer:
		if v.IsNil() || met[v.UnsafePointer()] {
			return "", nil
		}
		met[v.UnsafePointer()] = true
		return g.place(v.Elem(), path, met)
	case reflect.Interface:
		if v.IsNil() {
			return "", nil
		}
		return g.place(v.Elem(), path, met)
	case reflect.Struct:
		for _, i := range g.r.Perm(v.NumField()) {
			if p, f := g.place(v.Field(i), path+"."+v.Type().Field(i).Name, met); f != nil {
				return p, f
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Len() > 0 {
			if met[v.UnsafePointer()] {
				return "", nil
			}
			met[v.UnsafePointer()] = true
		}
		for i := range v.Len() {
			if p, f := g.place(v.Index(i), path+"[]", met); f != nil {
				return p, f
			}
		}
	case reflect.Map:
		if v.IsNil() || met[v.UnsafePointer()] {
			return "", nil
		}
		met[v.UnsafePointer()] = true
		for i := v.MapRange(); i.Next(); {
			if p, f := g.place(i.Value(), path+"[]", met); f != nil {
				return p, f
			}
		}
	}
	return "", nil
}

package pack

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"

	"github.com/actornode/actornode/wire"
)

type Base struct {
	ID   int
	Name string
}

type Kind string

// Forms has a field of each kind.
type Forms struct {
	Base
	Name     string `msgpack:"name,omitempty"`
	Skipped  int    `msgpack:"-"`
	Renamed  int    `msgpack:"other"`
	Moved    int    `msgpack:"moved,alias:before"`
	Empty    []int  `msgpack:",omitempty"`
	Maybe    *int   `msgpack:",omitempty"`
	I8       int8
	I16      int16
	I32      int32
	U8       uint8
	U16      uint16
	U32      uint32
	U64      uint64
	U        uint
	F32      float32
	Kind     Kind
	Wait     time.Duration
	At       time.Time `msgpack:",omitempty"`
	Bytes    [3]byte
	Arrays   [2][]string
	Deep     map[Kind][]map[int]*Base
	Err      error
	URL      url.URL
	Pointer  *time.Duration
	Pointers **int
	Gen      Generated
}

// Generated has the methods that the generator of msgp makes.
type Generated struct{ N int }

func (g *Generated) MarshalMsg(b []byte) ([]byte, error) { return msgp.AppendInt(b, g.N+1), nil }
func (g *Generated) UnmarshalMsg(b []byte) (rest []byte, err error) {
	g.N, rest, err = msgp.ReadIntBytes(b)
	g.N--
	return rest, err
}

func TestFieldForms(t *testing.T) {
	types := &Types{}
	require.NoError(t, Register[Forms](types, "forms"))
	n, wait := 7, time.Minute
	p := &n
	f := Forms{Base: Base{1, "base"}, Name: "own", Renamed: 2, Moved: 3, I8: -8, I16: -300, I32: -70_000, U8: 200, U16: 60_000,
		U32: 4e9, U64: 1 << 63, U: 9, F32: 1.5, Kind: "k", Wait: time.Second, Bytes: [3]byte{1, 2, 3},
		Arrays: [2][]string{{"a", "b"}, nil}, Deep: map[Kind][]map[int]*Base{"x": {{1: {2, "y"}, 3: nil}, nil}},
		Err: errors.New("an error"), URL: url.URL{Scheme: "http", Host: "h"}, Pointer: &wait, Pointers: &p, Gen: Generated{5}}
	require.Equal(t, f, pass(t, f, types, types))
	require.Equal(t, Forms{}, pass(t, Forms{Skipped: 1}, types, types))
	f.Empty, f.Maybe, f.At = []int{1}, &n, time.Unix(5, 6)
	require.Equal(t, f, pass(t, f, types, types))

	m := pass(t, f, types, nil).(wire.Map)
	for _, key := range []string{"name", "Name", "ID", "other", "moved", "Gen"} {
		_, ok := m.Get(key)
		require.True(t, ok, "%s in %v", key, m)
	}
	_, ok := m.Get("Skipped")
	require.False(t, ok)
	small := pass(t, Forms{}, types, nil).(wire.Map)
	for _, key := range []string{"name", "Empty", "Maybe", "At"} {
		_, ok := small.Get(key)
		require.False(t, ok, key)
	}

	type Older struct {
		ID     int
		Before int `msgpack:"before"`
	}
	older := &Types{}
	require.NoError(t, Register[Older](older, "forms"))
	require.Equal(t, Forms{Base: Base{ID: 1}, Moved: 4}, pass(t, Older{1, 4}, older, types))
	require.Equal(t, Older{ID: 1}, pass(t, f, types, older))
}

type (
	inner struct {
		innermost
		A int
		b int
	}
	innermost struct {
		B  string
		At time.Time `msgpack:",omitempty"`
	}
	onePointer struct{ In [1]oneField }
	oneField   struct{ P *int }
	outer      struct {
		inner
		C onePointer
	}
)

// The exported fields of an embedded struct travel even if its type is not exported.
func TestEmbeddedUnexported(t *testing.T) {
	types := &Types{}
	require.NoError(t, Register[outer](types, "outer"))
	require.NoError(t, Register[onePointer](types, "one"))
	n := 3
	one := onePointer{[1]oneField{{&n}}}
	v := outer{inner{innermost{"b", time.Unix(1, 0)}, 2, 0}, one}
	for _, v := range []any{v, &v, outer{}, one, &one, onePointer{}} {
		require.Equal(t, v, pass(t, v, types, types))
	}
	v.b = 1
	require.Zero(t, pass(t, v, types, types).(outer).b)
}

// TestNumbersThatDoNotFit: they are not cut off.
func TestNumbersThatDoNotFit(t *testing.T) {
	type Wide struct{ I8, U8 int }
	wide, types := &Types{}, &Types{}
	require.NoError(t, Register[Wide](wide, "forms"))
	require.NoError(t, Register[Forms](types, "forms"))
	require.Equal(t, Forms{I8: -128, U8: 255}, pass(t, Wide{-128, 255}, wide, types))
	for _, v := range []Wide{{128, 0}, {-129, 0}, {0, 256}, {0, -1}} {
		require.IsType(t, wire.Map{}, pass(t, v, wide, types), "%v", v)
	}
}

type (
	asArray struct {
		//lint:ignore U1000 it is there for its tag
		_msgpack struct{} `msgpack:",as_array"`
		N        int
	}
	twice struct {
		A int
		B int `msgpack:"A"`
	}
	shadows struct {
		Base
		ID string
	}
	shadowed struct {
		ID   string `msgpack:"Name"`
		Deep struct{ Middle }
	}
	Middle struct{ Base }
	both   struct {
		Base
		Other
	}
	Other   struct{ ID int }
	deeper  struct{ In []map[string]*shadows }
	aliased struct {
		Old int
		New int `msgpack:"New,alias:Old"`
	}
	aliasFirst struct {
		New int `msgpack:"New,alias:Old"`
		Old int
	}
	aliases struct {
		A int `msgpack:"A,alias:X"`
		B int `msgpack:"B,alias:X"`
	}
	apart struct {
		Base  `msgpack:"base"`
		Other `msgpack:",noinline"`
		ID    int
		Left  int `msgpack:"-"`
		Right int `msgpack:"Left"`
	}
)

func TestPlanRefuses(t *testing.T) {
	refuses := func(err error, want string) {
		t.Helper()
		require.ErrorIs(t, err, ErrType)
		require.ErrorContains(t, err, want)
	}
	refuses(Register[asArray](&Types{}, "a"), "not as_array")
	refuses(Register[twice](&Types{}, "a"), `pack.twice as "a": .A and .B both have the name "A"`)
	refuses(Register[shadows](&Types{}, "a"), `.ID and .Base.ID both have the name "ID"`)
	refuses(Register[both](&Types{}, "a"), `.Base.ID and .Other.ID both have the name "ID"`)
	refuses(Register[deeper](&Types{}, "a"), `.In.ID and .In.Base.ID both have the name "ID"`)
	refuses(Register[aliased](&Types{}, "a"), `.Old and .New both have the name "Old"`)
	refuses(Register[aliasFirst](&Types{}, "a"), `.New and .Old both have the name "Old"`)
	refuses(Register[aliases](&Types{}, "a"), `.A and .B both have the name "X"`)
	require.NoError(t, Register[shadowed](&Types{}, "a"), "in a struct of its own")
	require.NoError(t, Register[apart](&Types{}, "a"))
}

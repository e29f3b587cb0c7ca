package termof_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

type secrets struct {
	User    string
	ByETF   string   `etf:"-"`
	ByPack  string   `msgpack:"-"`
	ByBoth  string   `etf:"-" msgpack:"-,omitempty"`
	Channel chan int `etf:"-"`
	Func    func()   `msgpack:"-"`
	Inner   inner
	hidden  `etf:"-"`
}

type inner struct {
	Name     string
	Password string `etf:"-"`
}

type hidden struct{ Embedded string }

// A field that is marked to stay for one encoding stays for all: Erlang's terms, those with the names of Go types, and
// the native protocol's.
func TestWhatStaysDoesSoInEachEncoding(t *testing.T) {
	const secret = "hunter2"
	v := secrets{User: "joe", ByETF: secret, ByPack: secret, ByBoth: secret, Channel: make(chan int), Func: func() {},
		Inner: inner{"in", secret}, hidden: hidden{secret}}
	var types pack.Types
	require.NoError(t, pack.Register[inner](&types, "test.inner"))
	require.NoError(t, pack.Register[secrets](&types, "test.secrets"))
	for name, encode := range map[string]func() ([]byte, error){
		"etf":  func() ([]byte, error) { return etf.Marshal(v) },
		"term": func() ([]byte, error) { t, err := etf.ToTerm(v); return []byte(wire.Format(t)), err },
		"marked": func() ([]byte, error) {
			t, err := etf.ToTerm(termof.Marked{Value: v, Name: func(reflect.Type) string { return "test.secrets" }})
			return []byte(wire.Format(t)), err
		},
		"native": func() ([]byte, error) { return (&pack.Encoder{Types: &types}).Append(nil, v) },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := encode()
			require.NoError(t, err)
			require.Contains(t, string(b), "joe")
			require.Contains(t, string(b), "in")
			require.NotContains(t, string(b), secret)
		})
	}
}

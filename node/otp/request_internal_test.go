package otp

import (
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

// No request to print ends the process that prints: a node whose user ends again and again ends, too.
func TestRequestsOfAnything(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	signs := strings.Split("~~~~01936.-*tlkKwpWPscefgbBxX#+ni a", "")
	words := []any{
		0, 1, -1, 2, 36, 37, 1 << 16, -1 << 16, int64(math.MaxInt64), int64(math.MinInt64), new(big.Int).Lsh(big.NewInt(1), 3000),
		1.5, 0.0, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64,
		"text", "\xff", []byte{255, 1}, []byte(nil), wire.NewBitstring([]byte{1, 2}, 13), wire.Charlist("abc"), wire.Charlist("\xff"),
		nil, wire.List{}, wire.List{104, 105}, wire.List{-1}, wire.List{0x110000}, wire.List{0xd800}, wire.Tuple{}, wire.NewMap(1, 2),
		wire.ImproperList{Head: []any{104}, Tail: []byte("x")},
	}
	for w := range strings.FieldsSeq("put_chars requests unicode latin1 io_lib format fwrite write print getopts get_chars") {
		words = append(words, wire.Atom(w))
	}
	term := func(depth int) any { return termtest.Of(r, words, depth) }
	pattern := func() any {
		var b strings.Builder
		for range 1 + r.IntN(10) {
			b.WriteString(signs[r.IntN(len(signs))])
		}
		return b.String()
	}
	u := &tools{cfg: Config{Output: io.Discard}}
	put := func(what ...any) any {
		return append(wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode")}, what...)
	}
	for range 20_000 {
		q := term(3)
		switch r.IntN(4) {
		case 0:
			q = put(term(3))
		case 1:
			args := make(wire.List, r.IntN(4))
			for k := range args {
				args[k] = term(1)
			}
			q = put(wire.Atom("io_lib"), wire.Atom("format"), wire.List{pattern(), args})
		case 2:
			q = wire.Tuple{wire.Atom("requests"), wire.List{put(term(3)), term(3)}}
		}
		require.NotPanics(t, func() { u.request(q, maxRequests) }, "%#v", q)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, p := range []string{"~e", "~f", "~g"} {
			answer := u.request(put(wire.Atom("io_lib"), wire.Atom("format"), wire.List{p, wire.List{f}}), maxRequests)
			require.Equal(t, refused("format"), answer)
		}
	}
}

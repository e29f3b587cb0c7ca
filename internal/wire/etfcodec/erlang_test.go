package etfcodec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

// oracle is a real Erlang that answers testdata/oracle.erl's questions.
type oracle struct {
	in      io.WriteCloser
	out     *bufio.Reader
	release int

	recorded []string  // answers in place of its own, oldest first; see recorded
	kept     *[]string // answers to be recorded; nil: none
}

// recorded runs a test with an oracle's answers from testdata: in make test, where the questions are always the same.
// In make merge a real oracle is asked them, and with -update its answers are recorded anew.
func recorded(t *testing.T) *oracle {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(t.Name(), "/", "_")+".txt.gz")
	if !erltest.Has() {
		f, err := os.Open(file)
		require.NoError(t, err)
		defer f.Close()
		packed, err := gzip.NewReader(f)
		require.NoError(t, err)
		text, err := io.ReadAll(packed)
		require.NoError(t, err)
		o := &oracle{recorded: strings.Split(strings.TrimSpace(string(text)), "\n")[1:]}
		o.greet(t)
		t.Cleanup(func() {
			if !t.Failed() {
				require.Empty(t, o.recorded, "less is asked than is recorded: go test -update")
			}
		})
		return o
	}
	o := erlang(t)
	if erltest.Updating() {
		kept := []string{"# What OTP answers in " + t.Name() + ": the CRC of a question, and the answer in hexadecimal digits."}
		o.kept = &kept
		o.greet(t)
		t.Cleanup(func() {
			var b bytes.Buffer
			packed := gzip.NewWriter(&b)
			_, err := io.WriteString(packed, strings.Join(kept, "\n")+"\n")
			require.NoError(t, errors.Join(err, packed.Close()))
			require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		})
	}
	return o
}

// greet asks for the release.
func (o *oracle) greet(t *testing.T) {
	answer, err := o.ask('v', nil)
	require.NoError(t, err)
	o.release, err = strconv.Atoi(string(answer))
	require.NoError(t, err)
}

// erlang starts an oracle that ends with the test; without an erl on PATH it skips it.
func erlang(t *testing.T) *oracle {
	t.Helper()
	main := erltest.MainOptions("testdata/oracle.erl")
	cmd := erltest.Command(context.Background(), t, main)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { // the end of its input ends it
		assert.NoError(t, in.Close())
		assert.NoError(t, cmd.Wait())
	})
	o := &oracle{in: in, out: bufio.NewReader(out)}
	o.greet(t)
	return o
}

// ask puts one question; an error is Erlang's answer that it is none.
func (o *oracle) ask(question byte, body ...[]byte) ([]byte, error) {
	asked := fmt.Sprintf("%c%08x", question, crc32.ChecksumIEEE(bytes.Join(body, nil)))
	if o.recorded != nil {
		if len(o.recorded) == 0 {
			return nil, errors.New("more is asked than is recorded: go test -update")
		}
		of, answer, _ := strings.Cut(o.recorded[0], " ")
		o.recorded = o.recorded[1:]
		if of != asked {
			return nil, fmt.Errorf("%s is asked, recorded is %s: go test -update", asked, of)
		}
		return hex.DecodeString(answer)
	}
	packet := append([]byte{0, 0, 0, 0, question}, bytes.Join(body, nil)...)
	binary.BigEndian.PutUint32(packet, uint32(len(packet)-4))
	if _, err := o.in.Write(packet); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(o.out, head[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(o.out, answer); err != nil {
		return nil, err
	}
	if answer[0] != 0 {
		return nil, fmt.Errorf("erlang: %s", answer[1:])
	}
	if o.kept != nil {
		*o.kept = append(*o.kept, fmt.Sprintf("%s %x", asked, answer[1:]))
	}
	return answer[1:], nil
}

// requireSame requires that Erlang takes a and b for the same term.
func (o *oracle) requireSame(t *testing.T, a, b []byte) {
	t.Helper()
	if o.recorded != nil || o.kept != nil { // how our bytes are compressed is not recorded
		d := Decoder{Limits: Limits{LargeKeys: 10}}
		x, _, err := d.Decode(a)
		require.NoError(t, err)
		y, _, err := d.Decode(b)
		require.NoError(t, err)
		require.True(t, wire.Equal(x, y), "%x\n%x", a, b)
		return
	}
	answer, err := o.ask('=', binary.BigEndian.AppendUint32(nil, uint32(len(a))), a, b)
	require.NoError(t, err, "%x\n%x", a, b)
	require.Equal(t, "true", string(answer), "%x\n%x", a, b)
}

// ordered reports whether t's bytes depend on the order of a map's pairs: OTP 26 and newer order atom keys by their
// place in its table, and no release orders the keys of a large map.
func (o *oracle) ordered(t any) bool {
	switch t := t.(type) {
	case wire.Tuple:
		return o.allOrdered(t)
	case wire.List:
		return o.allOrdered(t)
	case wire.ImproperList:
		return o.allOrdered(t.Head) && o.ordered(t.Tail)
	case wire.Fun:
		return o.allOrdered(t.Free)
	case wire.Map:
		if t.Len() > 32 || t.Len() > 1 && o.release > 25 {
			return false
		}
		for k, v := range t.Unordered() {
			if !o.ordered(k) || !o.ordered(v) {
				return false
			}
		}
	}
	return true
}

func (o *oracle) allOrdered(l []any) bool {
	for _, t := range l {
		if !o.ordered(t) {
			return false
		}
	}
	return true
}

// TestErlangAgrees sends random terms to Erlang and back.
func TestErlangAgrees(t *testing.T) {
	t.Run("recorded", func(t *testing.T) {
		g := termtest.New(t)
		g.Rand = rand.New(rand.NewPCG(1, 1))
		agrees(t, recorded(t), g, 400)
	})
	t.Run("random", func(t *testing.T) { agrees(t, erlang(t), termtest.New(t), 6000) })
}

func agrees(t *testing.T, o *oracle, g *termtest.Gen, n int) {
	g.OneZero = o.release < 27
	d := Decoder{Limits: Limits{LargeKeys: 10}}
	for i := range n {
		g.Spell = i%2 == 1
		x := g.Term(g.IntN(5))
		ours, err := Append(nil, x)
		require.NoError(t, err, plain.Format(x))
		theirs, err := o.ask('t', ours)
		require.NoError(t, err, "%s\n%x", plain.Format(x), ours)
		if o.ordered(x) {
			require.Equal(t, theirs, ours, plain.Format(x))
		} else {
			require.Len(t, ours, len(theirs))
			o.requireSame(t, theirs, ours)
		}
		back, rest, err := d.Decode(theirs)
		require.NoError(t, err, "%s\n%x", plain.Format(x), theirs)
		require.Empty(t, rest)
		require.True(t, wire.Equal(x, back), "sent %s\n got %s", plain.Format(x), plain.Format(back))
		require.Equal(t, plain.Format(x), plain.Format(back))
		requirePlain(t, back)
		if i%4 == 0 { // in the old spelling
			old, err := o.ask('o', ours)
			require.NoError(t, err)
			back, _, err = d.Decode(old)
			require.NoError(t, err, "%x", old)
			require.True(t, wire.Equal(x, back), "sent %s\n got %s", plain.Format(x), plain.Format(back))
		}
		if i%4 == 1 {
			packed, err := o.ask('c', ours)
			require.NoError(t, err)
			back, rest, err = d.Decode(append(packed, 1, 2, 3))
			require.NoError(t, err, "%x", packed)
			require.Equal(t, []byte{1, 2, 3}, rest)
			require.True(t, wire.Equal(x, back), "sent %s\n got %s", plain.Format(x), plain.Format(back))
			packed, err = AppendCompressed(nil, x)
			require.NoError(t, err)
			o.requireSame(t, packed, ours)
		}
	}
}

// TestErlangsOwn decodes terms that Erlang made up, among them its real funs, ports and references, and writes them as
// Erlang does.
func TestErlangsOwn(t *testing.T) {
	o := recorded(t)
	b, err := o.ask('s')
	require.NoError(t, err)
	all, _, err := Decode(b)
	require.NoError(t, err)
	require.Greater(t, len(all.(wire.List)), 150)
	var d Decoder
	for _, sample := range all.(wire.List) {
		theirs := sample.([]byte)
		x, rest, err := d.Decode(theirs)
		require.NoError(t, err, "%.200x", theirs)
		require.Empty(t, rest)
		requirePlain(t, x)
		rest, err = Skip(theirs[1:])
		require.NoError(t, err, "%.200x", theirs)
		require.Empty(t, rest)
		ours, err := Append(nil, x)
		require.NoError(t, err)
		if o.ordered(x) {
			require.True(t, bytes.Equal(theirs, ours), "%.200x\n%.200x", theirs, ours)
		}
		o.requireSame(t, theirs, ours)
		if f, ok := x.(wire.Fun); ok && f.Arity == 1 && len(f.Free) == 3 {
			result, err := o.ask('a', ours)
			require.NoError(t, err)
			got, _, err := Decode(result)
			require.NoError(t, err)
			require.Equal(t, `{42,{a,"list",<<"binary">>},[1,2|3]}`, wire.Format(got))
		}
	}
}

// requirePlain checks that x is spelled as decoders spell it.
func requirePlain(t *testing.T, x any) {
	t.Helper()
	requireAll := func(l []any) {
		for _, e := range l {
			requirePlain(t, e)
		}
	}
	switch x := x.(type) {
	case int, float64, wire.Atom, wire.Ref, wire.Export, wire.Port, wire.PID, []byte:
	case wire.Fun:
		requireAll(x.Free)
	case wire.Tuple:
		requireAll(x)
	case wire.List:
		requireAll(x)
	case wire.ImproperList:
		require.NotEmpty(t, x.Head)
		switch x.Tail.(type) {
		case wire.List, wire.ImproperList, nil:
			require.Fail(t, "the tail of an improper list is a list", "%s", x)
		}
		requireAll(x.Head)
		requirePlain(t, x.Tail)
	case wire.Map:
		for k, v := range x.Unordered() {
			requirePlain(t, k)
			requirePlain(t, v)
		}
	case wire.Bitstring:
		require.NotZero(t, x.BitLen()%8)
	default:
		b := bigInt(t, x)
		require.Equal(t, wire.IntegerOf(b), x)
		require.False(t, b.IsInt64() && int64(int(b.Int64())) == b.Int64(), "%s is an int on this machine", b)
	}
}

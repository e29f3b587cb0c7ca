package loglimit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/loglimit"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// output collects the log of a test.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	fail error
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return 0, o.fail
	}
	return o.text.Write(b)
}

func (o *output) set(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = err
}

// lines returns the lines written since the last call, without times.
func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	if o.text.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(o.text.String(), "\n"), "\n")
}

func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func textLog(c loglimit.Config) (*slog.Logger, *loglimit.Handler, *output) {
	o := new(output)
	h := loglimit.New(slog.NewTextHandler(o, &slog.HandlerOptions{ReplaceAttr: timeless}), c)
	return slog.New(h), h, o
}

func TestABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, h, o := textLog(loglimit.Config{Lines: 2})
		for i := range 100 {
			log.Warn("refused", "from", i)
			log.With("a", 1).WithGroup("g").Warn("other")
		}
		log.Error("refused")
		for range 100 {
			log.Info("refused")
		}
		got := o.lines()
		require.Equal(t, []string{
			"level=WARN msg=refused from=0", "level=WARN msg=other a=1", "level=WARN msg=refused from=1", "level=WARN msg=other a=1",
			"level=ERROR msg=refused",
		}, got[:5])
		require.Equal(t, repeat("level=INFO msg=refused", 20), got[5:], "ten times as many")
		require.Equal(t, loglimit.Counts{LeftOut: 196 + 80}, h.Counts())

		time.Sleep(time.Second)
		log.Warn("refused", "from", 100)
		require.Equal(t, []string{"level=WARN msg=refused from=100 not_logged=98"}, o.lines())

		time.Sleep(time.Second) // no more lines of the other kind
		synctest.Wait()
		require.ElementsMatch(t, []string{
			`level=WARN msg="similar log lines were left out" message=other not_logged=98`,
			`level=INFO msg="similar log lines were left out" message=refused not_logged=80`,
		}, o.lines())
		time.Sleep(time.Hour)
		require.Empty(t, o.lines())
		require.NoError(t, h.Close())
		require.Empty(t, o.lines())
	})
}

// A long burst is reported by its own lines, each second.
func TestABurstThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, h, o := textLog(loglimit.Config{Lines: 1})
		for range 1000 {
			log.Warn("x")
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, append([]string{"level=WARN msg=x"}, repeat("level=WARN msg=x not_logged=99", 9)...), o.lines())
		require.NoError(t, h.Close())
		require.Equal(t, []string{`level=WARN msg="similar log lines were left out" message=x not_logged=99`}, o.lines())
		log.Warn("x")
		log.Warn("x")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"level=WARN msg=x"}, o.lines(), "no timer after Close")
	})
}

func repeat(s string, n int) (l []string) {
	for range n {
		l = append(l, s)
	}
	return l
}

// Lines that a full disk swallows are counted, and reported as soon as there is space.
func TestLinesThatCannotBeWritten(t *testing.T) {
	log, h, o := textLog(loglimit.Config{})
	o.set(&wrapped{syscall.ENOSPC})
	log.Info("a")
	log.Info("b")
	o.set(nil)
	log.Info("c")
	require.Equal(t, []string{"level=INFO msg=c",
		`level=ERROR msg="log lines were lost: they could not be written" lost=2 last_error="write: no space left on device"`},
		o.lines())
	log.Info("d")
	require.Equal(t, []string{"level=INFO msg=d"}, o.lines())
	require.Equal(t, loglimit.Counts{Failed: 2}, h.Counts())
}

type wrapped struct{ err error }

func (w *wrapped) Error() string { return "write: " + w.err.Error() }

// Whatever is logged, a line is within its bounds, and well-formed.
func TestLinesAreBounded(t *testing.T) {
	g := testkit.Rand(t)
	for _, c := range []struct {
		name  string
		make  func(io.Writer, *slog.HandlerOptions) slog.Handler
		valid func([]byte) bool
	}{
		{"json", func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(w, o) }, json.Valid},
		{"text", func(w io.Writer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(w, o) },
			func(b []byte) bool { return utf8.Valid(b) && bytes.Count(b, []byte("\n")) == 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3000 {
				most := 256 << g.IntN(6)
				o := new(output)
				var h slog.Handler = loglimit.New(c.make(o, nil), loglimit.Config{Bytes: most, Lines: 1000})
				for range g.IntN(3) {
					if g.IntN(2) == 0 {
						h = h.WithGroup("group")
					} else {
						h = h.WithAttrs(attrs(g, 2))
					}
				}
				slog.New(h).LogAttrs(t.Context(), slog.LevelInfo, text(g), attrs(g, 2)...)
				b := o.text.Bytes()
				require.True(t, c.valid(b), "%s", b)
				require.LessOrEqual(t, len(b), most, "%s", b)
			}
		})
	}
}

func attrs(g *rand.Rand, depth int) (all []slog.Attr) {
	for i := range g.IntN(1 << g.IntN(6)) {
		a := slog.Attr{Key: fmt.Sprint("key", i)}
		switch k := g.IntN(8); {
		case k < 4:
			a.Value = slog.StringValue(text(g))
		case k == 4:
			a.Value = slog.Int64Value(g.Int64())
		case k == 5:
			a.Value = slog.AnyValue([]any{errors.New(text(g)), []string{text(g), "x"}, wire.Tuple{text(g), 1}, wire.Atom(text(g)),
				nil, time.Now(), struct{ A, B string }{text(g), "b"}}[g.IntN(7)])
		case k == 6 && depth > 0:
			a.Value = slog.GroupValue(attrs(g, depth-1)...)
		default:
			a.Value = slog.BoolValue(true)
		}
		all = append(all, a)
	}
	return all
}

func text(g *rand.Rand) string {
	n := g.IntN(1 << g.IntN(14))
	switch g.IntN(4) {
	case 0:
		return strings.Repeat("word ", n/5)
	case 1:
		return strings.Repeat("ж\u2028\U0001F600\U000E0001", n/13)
	case 2:
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return string(b)
	}
	return strings.Repeat("\x00\"\\\n\x7f", n/5)
}

// A text that fits is written unchanged; of a longer one, the beginning and the number of bytes left out.
func TestWhatIsCut(t *testing.T) {
	log, _, o := textLog(loglimit.Config{Bytes: 512})
	log.Info("m", "short", "word", "long", strings.Repeat("a", 1000), "more", strings.Repeat("b", 2000), "n", 5, "tail", "end")
	line := o.lines()[0]
	require.Regexp(t, `^level=INFO msg=m short=word long="a{20,}… \(\d+ bytes left out\)" more="b{20,}… \(\d+ bytes left out\)" n=5 tail=end$`, line)
	require.Greater(t, len(line), 256, "the line is used")
	log.Error("m", "stack", strings.Repeat("a", 1000))
	require.Greater(t, len(o.lines()[0]), 1000, "errors may be longer")
	log.Info("m", "list", []string{"a", "b"}, "pid", wire.Tuple{1, 2}, "err", errors.New("no"))
	require.Equal(t, []string{`level=INFO msg=m list="[a b]" pid={1,2} err=no`}, o.lines())
	many := make([]any, 0, 200)
	for i := range 100 {
		many = append(many, fmt.Sprint("k", i), i)
	}
	log.Info("m", many...)
	require.Regexp(t, `^level=INFO msg=m k0=0 .* attrs_left_out=\d+$`, o.lines()[0])
}

// A huge value costs only what is shown of it.
func BenchmarkHugeValue(b *testing.B) {
	h := slog.New(loglimit.New(slog.NewTextHandler(io.Discard, nil), loglimit.Config{Lines: 1 << 30}))
	huge := strings.Repeat("a", 60<<20)
	for b.Loop() {
		h.Info("x", "value", huge)
	}
}

func BenchmarkLine(b *testing.B) {
	for _, lines := range []int{1, 1 << 30} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			h := slog.New(loglimit.New(slog.NewTextHandler(io.Discard, nil), loglimit.Config{Lines: lines}))
			b.ReportAllocs()
			for b.Loop() {
				h.Info("refused an incoming connection", "from", "127.0.0.1:4711", "error", "no")
			}
		})
	}
}

package port

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", lineBytes)
	text := "one\r\n\n" + long + "\n" + long + "yz\nend"
	want := []string{"one 0", " 0", long + " 0", long + " 2", "end 0"}
	for size := 1; size < len(text); size = size*3 + 1 {
		var l lines
		var got []string
		emit := func(line []byte, more int) { got = append(got, fmt.Sprintf("%s %d", line, more)) }
		for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
			l.feed(b[:min(size, len(b))], emit)
			require.LessOrEqual(t, cap(l.buf), 2*lineBytes)
		}
		l.end(emit)
		require.Equal(t, want, got, size)
	}
}

func TestRate(t *testing.T) {
	r := rate{limit: 2}
	now := time.Unix(1000, 0)
	var got []string
	for _, after := range []time.Duration{0, 1, 2, 3, time.Second, 1, 1, time.Second} {
		now = now.Add(after)
		missed, ok := r.admit(now)
		got = append(got, fmt.Sprint(missed, ok))
	}
	require.Equal(t, []string{"0 true", "0 true", "0 false", "0 false", "2 true", "0 true", "0 false", "1 true"}, got)
}

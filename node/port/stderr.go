package port

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// lineBytes is how much of a line of stderr is logged.
const lineBytes = 4096

// lines cuts a stream into lines, and keeps the beginning of each.
type lines struct {
	buf  []byte
	more int // bytes of the line that are not in buf
}

// feed takes bytes, and calls emit for each line that ends in them, with the number of bytes left out of it. The line
// is valid until emit returns.
func (l *lines) feed(b []byte, emit func(line []byte, more int)) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end]
		}
		fits := min(len(part), lineBytes-len(l.buf))
		l.buf, l.more = append(l.buf, part[:fits]...), l.more+len(part)-fits
		if end < 0 {
			return
		}
		b = b[end+1:]
		l.end(emit)
	}
}

// end ends the line.
func (l *lines) end(emit func(line []byte, more int)) {
	emit(bytes.TrimSuffix(l.buf, []byte("\r")), l.more)
	l.buf, l.more = l.buf[:0], 0
}

// pace is the rate of log lines that Config.LogRate allows.
func pace(rate int) watch.Pace { return watch.Pace{Lines: rate, Every: time.Second} }

// stderrLine is a line of stderr for the log.
type stderrLine struct {
	text string
	more int // bytes left out
}

// logLines logs what comes from a program's stderr, until its end.
func logLines(from io.Reader, log *slog.Logger, rate int) {
	var t watch.Throttle[stderrLine]
	t.Init(env.Env{}, pace(rate), func(e stderrLine, missed uint64) {
		if missed > 0 {
			log.Warn("port: some lines of the program's stderr were not logged: too many a second", "lines", missed)
		}
		attrs := []slog.Attr{slog.String("text", strings.ToValidUTF8(e.text, "\uFFFD"))}
		if e.more > 0 {
			attrs = append(attrs, slog.Int("bytes_left_out", e.more))
		}
		log.LogAttrs(context.Background(), slog.LevelInfo, "port: stderr", attrs...)
	})
	defer t.Close()
	l := lines{}
	emit := func(line []byte, more int) { t.Add(stderrLine{string(line), more}) }
	buf := make([]byte, step)
	for {
		n, err := from.Read(buf)
		l.feed(buf[:n], emit)
		if err != nil {
			break
		}
	}
	if len(l.buf) > 0 {
		l.end(emit)
	}
}

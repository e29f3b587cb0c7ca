package port

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"time"
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

// rate limits the lines per second.
type rate struct {
	limit  int
	since  time.Time // of the present second
	passed int       // in it
	missed int       // since something was let through
}

// admit reports whether a line passes, and how many have not since the last one did.
func (r *rate) admit(now time.Time) (missed int, ok bool) {
	if now.Sub(r.since) >= time.Second {
		r.since, r.passed = now, 0
	}
	if r.passed == r.limit {
		r.missed++
		return 0, false
	}
	r.passed++
	missed, r.missed = r.missed, 0
	return missed, true
}

// logLines logs what comes from a program's stderr, until its end.
func logLines(from io.Reader, log *slog.Logger, limit int) {
	l, r := lines{}, rate{limit: limit}
	emit := func(line []byte, more int) {
		missed, ok := r.admit(time.Now())
		if !ok {
			return
		}
		if missed > 0 {
			log.Warn("port: some lines of the program's stderr were not logged: too many a second", "lines", missed)
		}
		attrs := []slog.Attr{slog.String("text", string(bytes.ToValidUTF8(line, []byte("\uFFFD"))))}
		if more > 0 {
			attrs = append(attrs, slog.Int("bytes_left_out", more))
		}
		log.LogAttrs(context.Background(), slog.LevelInfo, "port: stderr", attrs...)
	}
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
	if r.missed > 0 {
		log.Warn("port: some lines of the program's stderr were not logged: too many a second", "lines", r.missed)
	}
}

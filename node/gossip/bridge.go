package gossip

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
)

// bridge is the io.Writer that memberlist logs to, one line at a time. It passes lines to slog with their levels. Of those of a
// kind, which hosts without the cookie can cause, it logs one a minute: the first at once, and the last when the minute is over.
type bridge struct {
	log *slog.Logger

	mu     sync.Mutex
	kinds  map[string]*watch.Throttle[line] // lines that differ only in digits
	closed bool
}

// line is a line of memberlist.
type line struct {
	level slog.Level
	text  string
	at    time.Time // when it came; zero if it is written at once
}

const (
	quietTime = time.Minute
	maxKinds  = 256
)

func newBridge(log *slog.Logger) *bridge {
	return &bridge{log: log, kinds: make(map[string]*watch.Throttle[line])}
}

// wrongKey is memberlist's error for a message that none of its keys can decrypt.
const wrongKey = "no installed keys could decrypt"

// noKey is memberlist's error for a message that is not encrypted.
const noKey = "remote state is not encrypted"

// hint explains some errors.
func hint(text string) string {
	switch {
	case strings.Contains(text, wrongKey):
		return "the sender has a different cookie: it belongs to another cluster, or its cookie is out of date"
	case strings.Contains(text, noKey):
		return "the sender does not encrypt: it has no cookie"
	}
	return ""
}

// Write is part of io.Writer: p is a line from memberlist.
func (b *bridge) Write(p []byte) (int, error) {
	level, text := levelOf(strings.TrimSpace(string(p)))
	if !b.log.Enabled(context.Background(), level) {
		return len(p), nil
	}
	key := text // lines are limited per key
	if level >= slog.LevelWarn {
		key = kindOf(text)
	}
	e := line{level: level, text: text}
	if k := b.kind(key); k != nil {
		if !k.Free() {
			e.at = time.Now()
		}
		k.Add(e)
	}
	return len(p), nil
}

// write logs a line; not is the number of those of its kind that were not logged.
func (b *bridge) write(e line, not uint64) {
	args := []any{"text", e.text}
	if h := hint(e.text); h != "" {
		args = append(args, "hint", h)
	}
	if !e.at.IsZero() {
		args = append(args, "at", e.at)
	}
	if not > 0 {
		args = append(args, "not_logged", not)
	}
	b.log.Log(context.Background(), e.level, "gossip", args...)
}

// levelOf splits a line into level and text. An error of memberlist is a warning here: it has lost one message or
// attempt, and goes on.
func levelOf(line string) (slog.Level, string) {
	word, text, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	if !ok {
		return slog.LevelInfo, line
	}
	text = strings.TrimPrefix(text, "memberlist: ")
	switch word {
	case "DEBUG":
		return slog.LevelDebug, text
	case "INFO":
		return slog.LevelInfo, text
	}
	return slog.LevelWarn, text
}

// kind finds or makes a kind; nil after close. If there are too many, it first logs what they hold.
func (b *bridge) kind(key string) *watch.Throttle[line] {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	k := b.kinds[key]
	var old map[string]*watch.Throttle[line]
	if k == nil {
		if len(b.kinds) >= maxKinds {
			old, b.kinds = b.kinds, make(map[string]*watch.Throttle[line])
		}
		k = new(watch.Throttle[line])
		k.Init(env.Env{}, watch.Pace{Lines: 1, Every: quietTime}, b.write)
		b.kinds[key] = k
	}
	b.mu.Unlock()
	flush(old)
	return k
}

// close logs what is not logged yet. Later lines are not logged.
func (b *bridge) close() {
	b.mu.Lock()
	old := b.kinds
	b.kinds, b.closed = nil, true
	b.mu.Unlock()
	flush(old)
}

// flush logs what kinds hold, and ends them.
func flush(kinds map[string]*watch.Throttle[line]) {
	for _, k := range kinds {
		k.Close()
	}
}

// kindOf returns a line without the parts that vary: the sender of a message, ports, counts.
func kindOf(text string) string {
	text, _, _ = strings.Cut(text, " from=")
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}

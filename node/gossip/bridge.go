package gossip

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// bridge is the io.Writer that memberlist logs to. It passes lines to slog with their levels. It logs lines that hosts
// without the cookie can cause once a minute for each kind.
type bridge struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	kinds map[string]*kind
}

// kind is a group of lines that differ only in digits.
type kind struct {
	next time.Time
	held int // not logged since the last line
}

const (
	quietTime = time.Minute
	maxKinds  = 256
)

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
	held, say := b.admit(key)
	if !say {
		return len(p), nil
	}
	args := []any{"text", text}
	if h := hint(text); h != "" {
		args = append(args, "hint", h)
	}
	if held > 0 {
		args = append(args, "not_logged", held)
	}
	b.log.Log(context.Background(), level, "gossip", args...)
	return len(p), nil
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

// admit reports whether to log a line, and how many of its kind were not logged.
func (b *bridge) admit(key string) (held int, say bool) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.kinds[key]
	if k == nil {
		if len(b.kinds) >= maxKinds {
			clear(b.kinds)
		}
		k = &kind{}
		b.kinds[key] = k
	}
	if now.Before(k.next) {
		k.held++
		return 0, false
	}
	held, k.held = k.held, 0
	k.next = now.Add(quietTime)
	return held, true
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

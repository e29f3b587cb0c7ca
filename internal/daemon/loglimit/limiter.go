package loglimit

import (
	"hash/maphash"
	"log/slog"
	"slices"
	"time"
)

// window is the period of Config.Lines.
const window = time.Second

// infoFactor multiplies the limit for lines below WARN: the program itself causes more of them, such as the output of a
// port's program.
const infoFactor = 10

// limiter decides which lines are written. Callers pass the time.
//
//  1. kinds holds at most most kinds, and one per level for all others.
//  2. Lines of a kind are left out only if it has used up its lines in its window.
//  3. pending is the number of kinds with left > 0.
type limiter struct {
	lines, most int
	seed        maphash.Seed
	kinds       map[uint64]*kind
	pending     int
	swept       time.Time
}

// kind is the state of one kind of lines.
type kind struct {
	level   slog.Level
	message string // of the first line
	begun   time.Time
	lines   int    // written since begun
	left    uint64 // left out, and not reported yet
}

func newLimiter(lines, kinds int) *limiter {
	return &limiter{lines: lines, most: kinds, seed: maphash.MakeSeed(), kinds: make(map[uint64]*kind)}
}

// admit decides about a line. If it is to be written, left is how many lines before it were left out.
func (l *limiter) admit(level slog.Level, message string, now time.Time) (left uint64, ok bool) {
	k := l.kind(level, message, now)
	if since := now.Sub(k.begun); since >= window || since < 0 { // the clock may have been set back
		k.begun, k.lines = now, 0
	}
	most := l.lines
	if level < slog.LevelWarn {
		most *= infoFactor
	}
	if k.lines >= most {
		if k.left++; k.left == 1 {
			l.pending++
		}
		return 0, false
	}
	k.lines++
	if left, k.left = k.left, 0; left > 0 {
		l.pending--
	}
	return left, true
}

// kind finds or creates the kind of a line.
func (l *limiter) kind(level slog.Level, message string, now time.Time) *kind {
	key := l.key(level, message)
	k := l.kinds[key]
	if k == nil && len(l.kinds) >= l.most {
		l.sweep(now)
		if len(l.kinds) >= l.most {
			message = "other messages" // all are in use
			key = l.key(level, message)
			k = l.kinds[key]
		}
	}
	if k == nil {
		k = &kind{level: level, message: message, begun: now}
		l.kinds[key] = k
	}
	return k
}

// key is the same for messages that differ only in numbers.
func (l *limiter) key(level slog.Level, message string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	maphash.WriteComparable(&h, level)
	digit := false
	for i := range len(message) {
		c := message[i]
		was := digit
		if digit = '0' <= c && c <= '9'; digit {
			if was {
				continue
			}
			c = '0'
		}
		h.WriteByte(c)
	}
	return h.Sum64()
}

// sweep removes the kinds whose window is over and that have nothing to report, at most once per window.
func (l *limiter) sweep(now time.Time) {
	if since := now.Sub(l.swept); since >= 0 && since < window {
		return
	}
	l.swept = now
	for key, k := range l.kinds {
		if since := now.Sub(k.begun); k.left == 0 && (since >= window || since < 0) {
			delete(l.kinds, key)
		}
	}
}

// over returns the bursts without a new line for one window after their own, or all if now is zero, and resets their
// counts. The oldest comes first.
func (l *limiter) over(now time.Time) (all []kind) {
	for _, k := range l.kinds {
		if k.left > 0 && (now.IsZero() || now.Sub(k.begun) >= 2*window || now.Before(k.begun)) {
			all = append(all, *k)
			k.left = 0
			l.pending--
		}
	}
	slices.SortFunc(all, func(a, b kind) int { return a.begun.Compare(b.begun) })
	return all
}

package watch

import (
	"fmt"
	"time"
)

// Left is what an Actor has left unhandled in its mailbox, by node.ErrUnhandled, since its behaviour last changed. It has no
// lock.
type Left struct {
	Count  int
	Since  int64  // when the oldest was left, Unix time, ns
	Oldest string // type of that message
	told   bool   // its age was reported
}

// manyLeft is the number of unhandled messages that is reported, and again whenever it has doubled.
const manyLeft = 1024

// longLeft is how long messages may be left unhandled before an inspection of the process reports them, once.
const longLeft = time.Minute

// NewLeft starts to count with the oldest message, which Add counts, too.
func NewLeft(now int64, oldest any) *Left {
	return &Left{Since: now, Oldest: fmt.Sprintf("%T", oldest)}
}

// Add counts a message. It reports whether their number must be reported now.
func (l *Left) Add() bool {
	l.Count++
	return l.Count >= manyLeft && l.Count&(l.Count-1) == 0
}

// Old reports, once, that they have been left for long.
func (l *Left) Old(now int64) bool {
	if l.told || now-l.Since < int64(longLeft) {
		return false
	}
	l.told = true
	return true
}

// Left reports messages that a process leaves unhandled, many or for long.
func (l *Reports) Left(left Left, process, behaviour string) {
	l.left.Add(leftBy{left, process, behaviour})
}

// leftBy is the event of Reports.Left.
type leftBy struct {
	Left
	process, behaviour string
}

func (l *Reports) writeLeft(e leftBy, not uint64) {
	l.log.Warn("messages stay in the mailbox", "process", e.process, "behaviour", e.behaviour,
		"messages", e.Count, "oldest", e.Oldest, "since", time.Unix(0, e.Since).Format(time.RFC3339), "not_logged", not)
}

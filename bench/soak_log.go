package main

import (
	"strings"
	"sync"
)

// lastLines keeps the last lines written to it: of the nodes' logs, for investigating a failure.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

// mostLines is the number of lines kept.
const mostLines = 40

// Write is part of io.Writer. It receives whole lines.
func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == mostLines {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}

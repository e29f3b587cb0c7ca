package admin

import (
	"strings"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Stack is what the code of a process is doing now.
type Stack struct {
	PID       node.PID  `json:"pid"`
	Name      node.Atom `json:"name,omitzero" etf:",omitzero"`
	Label     string    `json:"label,omitzero" etf:",omitzero"`
	Behaviour string    `json:"behaviour"` // Go type
	State     node.Atom `json:"state"`     // as Process.State
	Wait      Wait      `json:"wait,omitzero" etf:",omitzero"`

	// Goroutine is the state of the goroutine in Go's words, such as "sleep" or "chan receive, 2 minutes", and Frames are its
	// calls, the innermost first. Both are empty if no goroutine was found; then Note says why.
	Goroutine string  `json:"goroutine,omitzero" etf:",omitzero"`
	Frames    []Frame `json:"frames,omitempty" etf:",omitzero"`
	Note      string  `json:"note,omitzero" etf:",omitzero"`
}

// Frame is a call on a stack, without arguments, which could be secrets.
type Frame struct {
	Function string `json:"function"` // with the path of its package
	At       string `json:"at"`       // FILE:LINE
}

// stack makes the Stack.
func (q *request) stack() (any, error) {
	pid, err := q.target(0)
	if err != nil {
		return nil, err
	}
	text, why, err := q.n.Inside(process.Key{}).Stack(pid)
	if err != nil {
		return nil, err
	}
	i, err := q.n.Info(pid)
	if err != nil {
		return nil, err
	}
	s := Stack{PID: i.PID, Name: i.Name, Label: i.Label, Behaviour: i.Behaviour, State: node.Atom(i.State), Wait: waitOf(&i.Wait)}
	if s.Goroutine, s.Frames = readTraceback(text); len(s.Frames) == 0 {
		s.Note = why
	}
	return toTerm(s)
}

// readTraceback reads the traceback of a goroutine, in which each call is a line with arguments, before one with the file.
func readTraceback(text string) (state string, frames []Frame) {
	head, calls, _ := strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(head, "["); ok {
		state = strings.TrimSuffix(after, "]:")
	}
	var f Frame
	for line := range strings.Lines(calls) {
		line = strings.TrimRight(line, "\n")
		at, ok := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "created by "):
			return state, frames
		case !ok:
			f.Function = line[:max(strings.LastIndexByte(line, '('), 0)]
		case f.Function != "":
			f.At, _, _ = strings.Cut(at, " +0x")
			frames, f = append(frames, f), Frame{}
		}
	}
	return state, frames
}

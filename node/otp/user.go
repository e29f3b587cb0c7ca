package otp

import (
	"io"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// user is the process of that name: Erlang's I/O protocol over an io.Writer.
func (t *tools) user(p *node.Process) error {
	p.TrapExit(true)
	for {
		msg := p.Receive()
		by := t.n.Inside(process.Key{}).AskerOf(msg)
		if far, ok := msg.(node.PeerMessage); ok {
			msg = far.Message
		}
		switch m := msg.(type) {
		case node.Exited:
			if m.From.IsZero() { // the node stops
				return node.ExitWith(m.Reason)
			}
		case wire.Tuple:
			if len(m) != 4 || m[0] != wire.Atom("io_request") {
				continue
			}
			if from, ok := m[1].(wire.PID); ok && by.MayReach(from) {
				p.SendOpt(node.SendOptions{NoWait: true}, from, wire.Tuple{wire.Atom("io_reply"), m[2], t.request(m[3], maxRequests)})
			}
		}
	}
}

// maxRequests is how deeply {requests, …} may be nested.
const maxRequests = 16

func refused(why wire.Atom) any { return wire.Tuple{wire.AtomError, why} }

// request does one request and returns the answer.
func (t *tools) request(r any, depth int) any {
	if r == wire.Atom("getopts") {
		return wire.List{pair("binary", wire.AtomFalse), pair("encoding", wire.Atom("unicode"))}
	}
	q, ok := r.(wire.Tuple)
	if !ok || len(q) == 0 {
		return refused("request")
	}
	switch name, _ := q[0].(wire.Atom); name {
	case "put_chars":
		return t.put(q[1:])
	case "requests":
		if len(q) == 2 && depth > 0 {
			return t.requests(q[1], depth)
		}
	case "get_chars", "get_line", "get_until", "get_password":
		return wire.Atom("eof") // there is no input
	case "get_geometry", "setopts":
		return refused("enotsup")
	}
	return refused("request")
}

// requests does requests until one fails.
func (t *tools) requests(list any, depth int) any {
	l, ok := wire.AsList(list)
	if !ok {
		return refused("request")
	}
	var answer any = wire.AtomOK
	for _, r := range l {
		answer = t.request(r, depth-1)
		if e, ok := answer.(wire.Tuple); ok && len(e) == 2 && e[0] == wire.AtomError {
			return answer
		}
	}
	return answer
}

// put answers put_chars with what follows: [Encoding,] Chars, or [Encoding,] M, F, A.
func (t *tools) put(q wire.Tuple) any {
	unicode := false
	if len(q) == 2 || len(q) == 4 {
		unicode = q[0] == wire.Atom("unicode")
		if !unicode && q[0] != wire.Atom("latin1") {
			return refused("request")
		}
		q = q[1:]
	}
	var text string
	var ok bool
	switch len(q) {
	case 1:
		if text, ok = charData(q[0], unicode); !ok {
			return refused("put_chars")
		}
	case 3:
		if text, ok = made(q, unicode); !ok {
			f, _ := q[1].(wire.Atom)
			return refused(f)
		}
	default:
		return refused("request")
	}
	if _, err := io.WriteString(t.cfg.Output, bounded(text)); err != nil {
		t.n.Log().Warn("otp: the process user cannot write its output", "error", err)
		return refused("terminated")
	}
	return wire.AtomOK
}

// bounded cuts the text of a request if it is too long.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return cut(text, maxText) + "… (cut: a request prints 1 MiB at most)\n"
}

// cut returns the beginning of a text: most bytes, or a few fewer so as not to split a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// made returns the text that M:F(Args) returns, for the functions that io itself names.
func made(q wire.Tuple, unicode bool) (string, bool) {
	m, ok1 := q[0].(wire.Atom)
	f, ok2 := q[1].(wire.Atom)
	args, ok3 := wire.AsList(q[2])
	if !ok1 || !ok2 || !ok3 {
		return "", false
	}
	if m == "io_lib" && (f == "format" || f == "fwrite") && len(args) == 2 {
		pattern, ok := wire.AsText(args[0])
		if !ok {
			if pattern, ok = charData(args[0], unicode); !ok {
				return "", false
			}
		}
		l, ok := wire.AsList(args[1])
		if !ok {
			return "", false
		}
		text, err := format(pattern, l)
		return text, err == nil
	}
	if m == "io_lib" && (f == "write" || f == "print") && len(args) > 0 {
		return wire.Formatter{Max: maxText + 1}.Format(args[0]), true
	}
	return "", false
}

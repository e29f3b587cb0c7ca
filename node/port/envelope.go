package port

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// What a port writes: the words that frames to a program begin with.
const (
	wordStart  = "start"
	wordCall   = "call"
	wordCast   = "cast"
	wordInfo   = "info"
	wordAnswer = "answer"
	wordError  = "error"
	wordDown   = "down"
	wordExit   = "exit"
	wordStop   = "stop"
	wordTrace  = "trace"
)

// What a program writes. Each is one kind of frame; see the package's documentation.
type (
	opReady struct{}
	opReply struct {
		id    int64
		value any
	}
	opError struct {
		id     int64
		reason any
	}
	opSend struct {
		to  dest
		msg any
	}
	opCall struct {
		id   int64
		to   dest
		body any
		wait time.Duration // 0: for ever
	}
	opLink    struct{ pid node.PID }
	opUnlink  struct{ pid node.PID }
	opMonitor struct {
		id int64
		to dest
	}
	opDemonitor struct{ id int64 }
	opTrap      struct{ on bool }
	opSignal    struct {
		pid    node.PID
		reason any
	}
	opExit  struct{ reason any }
	opTrace struct{ label any } // of the next opSend or opCall; nil: none
)

// dest is the destination that a program names: one of the three is set.
type dest struct {
	pid   node.PID
	alias node.Ref
	at    node.At // Node "": this one
}

// defaultWait is how long a program's calls wait, as gen_server:call does.
const defaultWait = 5 * time.Second

// codec is how frames are written and read.
type codec struct {
	kind Codec
	pack pack.Encoder
	etf  etfcodec.Encoder

	unpack pack.Decoder     // the reader's
	unetf  etfcodec.Decoder // the reader's
}

func newCodec(kind Codec, frame int) *codec {
	return &codec{
		kind:   kind,
		pack:   pack.Encoder{Erlang: true, Foreign: etf.ToTerm, Depth: maxDepth},
		etf:    etfcodec.Encoder{Foreign: etf.ToTerm},
		unpack: pack.Decoder{Erlang: true, Limits: pack.Limits{Depth: maxDepth, Elements: maxElements}},
		unetf:  etfcodec.Decoder{Limits: etfcodec.Limits{Elements: maxElements, Inflated: frame}},
	}
}

// maxElements is how many elements the lists, tuples and maps of a frame may have
// together.
const maxElements = 1 << 22

// Heads of a msgpack array of less than 16 elements, and of a str of less than 32
// bytes.
const (
	fixArray = 0x90
	fixStr   = 0xa0
)

// append appends the bytes of a frame, without its header.
func (c *codec) append(dst []byte, word string, fields ...any) ([]byte, error) {
	if c.kind == ETF {
		return c.etf.Append(dst, append(wire.Tuple{wire.Atom(word)}, fields...))
	}
	b := append(append(dst, fixArray|byte(1+len(fields)), fixStr|byte(len(word))), word...)
	if c.kind == Plain {
		b, err := appendPlain(b, fields...)
		if err != nil {
			return dst, err
		}
		return b, nil
	}
	for _, f := range fields {
		var err error
		if b, err = c.pack.Append(b, f); err != nil {
			return dst, err
		}
	}
	return b, nil
}

// decode reads the bytes of a frame.
func (c *codec) decode(b []byte) (any, error) {
	var t any
	var rest []byte
	var err error
	if c.kind == ETF {
		t, rest, err = c.unetf.Decode(b)
	} else {
		t, rest, err = c.unpack.Term(b)
		if c.kind == Plain && err == nil {
			t, err = fromPlain(t)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow the term", len(rest))
	}
	return parse(t)
}

var errShape = errors.New("want an array or a tuple that begins with a word")

// parse reads what a program has written.
func parse(t any) (any, error) {
	var all []any
	switch t := t.(type) {
	case wire.List:
		all = t
	case wire.Tuple:
		all = t
	}
	if len(all) == 0 {
		return nil, errShape
	}
	word, ok := wire.AsText(all[0])
	if !ok {
		return nil, errShape
	}
	k, ok := kinds[word]
	if !ok {
		return nil, fmt.Errorf("unknown kind of frame: %q", wire.Describe(word, maxBrief))
	}
	f := fields{all: all[1:]}
	if len(f.all) < k.least || len(f.all) > max(k.least, k.most) {
		return nil, fmt.Errorf("%s with %d fields; want %s", word, len(f.all), k.want)
	}
	op := k.read(&f)
	if f.err != nil {
		return nil, fmt.Errorf("%s: %w", word, f.err)
	}
	return op, nil
}

// kinds are the frames that a program may write.
var kinds = map[string]struct {
	least, most int // fields; most 0: as least
	want        string
	read        func(*fields) any
}{
	"ready": {0, 0, "none", func(*fields) any { return opReady{} }},
	"reply": {2, 0, "id, value", func(f *fields) any { return opReply{f.id(0), f.all[1]} }},
	"error": {2, 0, "id, reason", func(f *fields) any { return opError{f.id(0), f.all[1]} }},
	"send":  {2, 0, "to, message", func(f *fields) any { return opSend{f.dest(0), f.all[1]} }},
	"cast":  {2, 0, "to, body", func(f *fields) any { return opSend{f.dest(0), node.Cast[any]{Body: f.all[1]}} }},
	"call": {3, 4, "id, to, body, and perhaps a timeout",
		func(f *fields) any { return opCall{f.id(0), f.dest(1), f.all[2], f.wait(3)} }},
	"link":      {1, 0, "pid", func(f *fields) any { return opLink{f.pid(0)} }},
	"unlink":    {1, 0, "pid", func(f *fields) any { return opUnlink{f.pid(0)} }},
	"monitor":   {2, 0, "id, to", func(f *fields) any { return opMonitor{f.id(0), f.dest(1)} }},
	"demonitor": {1, 0, "id", func(f *fields) any { return opDemonitor{f.id(0)} }},
	"trap":      {1, 0, "true or false", func(f *fields) any { return opTrap{f.flag(0)} }},
	"signal":    {2, 0, "pid, reason", func(f *fields) any { return opSignal{f.pid(0), f.all[1]} }},
	"trace":     {1, 0, "traceparent", func(f *fields) any { return opTrace{f.traceparent(0)} }},
	"exit":      {1, 0, "reason", func(f *fields) any { return opExit{f.all[0]} }},
}

// fields reads the fields of a frame; err is the first thing that is wrong.
type fields struct {
	all []any
	err error
}

func (f *fields) fail(i int, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("field %d is %s; want %s", i+1, brief(f.all[i]), want)
	}
}

func (f *fields) id(i int) int64 {
	n, ok := wire.AsInt(f.all[i])
	if !ok {
		f.fail(i, "an integer of 64 bits")
	}
	return n
}

func (f *fields) pid(i int) node.PID {
	p, ok := f.all[i].(node.PID)
	if !ok {
		f.fail(i, "a pid")
	}
	return p
}

// traceparent reads a W3C traceparent, as a label of a trace token; nil: none.
func (f *fields) traceparent(i int) any {
	if f.all[i] == wire.AtomUndefined {
		return nil
	}
	if text, ok := wire.AsText(f.all[i]); ok {
		if t, ok := watch.ReadTraceparent(text); ok {
			return t.Label()
		}
	}
	f.fail(i, "a traceparent, or nil for none")
	return nil
}

func (f *fields) flag(i int) bool {
	b, ok := wire.AsBool(f.all[i])
	if !ok {
		f.fail(i, "true or false")
	}
	return b
}

// wait reads a timeout in milliseconds; nil is none.
func (f *fields) wait(i int) time.Duration {
	if i >= len(f.all) {
		return defaultWait
	}
	if a, ok := f.all[i].(wire.Atom); ok && (a == wire.AtomUndefined || a == "infinity") {
		return 0
	}
	n, ok := wire.AsInt(f.all[i])
	if !ok || n < 0 || n > math.MaxInt32 {
		f.fail(i, "milliseconds, or nil for no timeout")
		return 0
	}
	return max(1, time.Duration(n)*time.Millisecond)
}

const wantDest = "a pid, a reference, a name, or a name and a node"

// dest reads a destination.
func (f *fields) dest(i int) (d dest) {
	switch t := f.all[i].(type) {
	case node.PID:
		d.pid = t
		return d
	case node.Ref:
		d.alias = t
		return d
	case wire.Tuple:
		return f.far(i, t)
	case wire.List:
		return f.far(i, t)
	}
	d.at.Name = f.name(i, f.all[i])
	return d
}

func (f *fields) far(i int, l []any) (d dest) {
	if len(l) != 2 {
		f.fail(i, wantDest)
		return d
	}
	return dest{at: node.At{Name: f.name(i, l[0]), Node: f.name(i, l[1])}}
}

func (f *fields) name(i int, t any) node.Atom {
	switch t.(type) {
	case wire.Atom, []byte:
		if s, ok := wire.AsText(t); ok && s != "" && len([]rune(s)) <= wire.MaxAtomRunes {
			return wire.Atom(s)
		}
	}
	f.fail(i, wantDest)
	return ""
}

// maxBrief is how much an error message quotes, in bytes.
const maxBrief = 80

// brief is what an error message quotes of a term.
func brief(t any) string { return wire.Formatter{Max: maxBrief}.Format(t) }

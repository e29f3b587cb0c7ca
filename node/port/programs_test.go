//go:build unix

package port

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// programVar names, in the environment of this test binary, the program that it runs as.
const programVar = "PORT_TEST_PROGRAM"

// programs are the programs of the ports of the tests: this binary runs one of them in place of its tests.
var programs = map[string]func(args []string){
	"counter":    runCounter,
	"everything": runEverything,
	"plain":      runPlain,
	"environment": func(args []string) {
		runAnswering(func(any) any { return environment(args) })
	},

	// These are not ports: they do not know frames.
	"exit":   func(args []string) { os.Exit(number(args[0])) },
	"signal": func(args []string) { raise(syscall.Signal(number(args[0]))) },
	"write": func(args []string) { // and read until the end
		write(os.Stdout, unquote(args[0]))
		io.Copy(io.Discard, os.Stdin)
	},
	"write, and close stdout": func(args []string) { write(os.Stdout, unquote(args[0])); os.Stdout.Close(); forever() },
	"close stdout and exit":   func(args []string) { os.Stdout.Close(); os.Exit(number(args[0])) },
	"close stdout and wait": func(args []string) {
		os.Stdout.Close()
		io.Copy(io.Discard, dial(args[0]))
	},
	"close stdin": func([]string) { os.Stdin.Close(); forever() },
	"write zeros": func(args []string) { // and read until the end
		most := math.MaxInt
		if len(args) > 0 {
			most = number(args[0])
		}
		writeAll(os.Stdout, most)
		io.Copy(io.Discard, os.Stdin)
	},
	"read nothing": func([]string) { forever() },
	"copy":         func([]string) { io.Copy(os.Stdout, os.Stdin) },
	"stay":         func(args []string) { dial(args[0]); forever() },
	"ignore SIGTERM": func(args []string) {
		signal.Ignore(syscall.SIGTERM)
		dial(args[0])
		forever()
	},
	"ignore SIGTERM, with a child": func(args []string) {
		signal.Ignore(syscall.SIGTERM)
		child("ignore SIGTERM", args[0])
		forever()
	},
	"stay, with a child": func(args []string) { child("stay", args[0]); forever() },
	"leave a child": func(args []string) {
		c := command("stay", args[0])
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: args[1] == "outside"}
		start(c)
		io.Copy(io.Discard, dial(args[0]))
		os.Exit(6)
	},
	"errors": func([]string) {
		fmt.Fprintf(os.Stderr, "one\ntw\377o\r\n%s\nend", strings.Repeat("x", 10_000))
	},
	"flood of errors": func([]string) {
		for i := range 3000 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		writeAll(os.Stderr, 3_000_000)
	},

	// These talk to the node.
	"answer nobody": func([]string) { c := connect(MsgPack); c.write("reply", 7, 1); c.run(nil) },
	"call twice": func([]string) {
		c := connect(MsgPack)
		c.write("call", 1, c.me, 1)
		c.write("call", 1, c.me, 1)
		c.run(nil)
	},
	"exit with a reason": func([]string) {
		c := connect(MsgPack)
		c.write("exit", wire.Tuple{node.Shutdown, 7})
		c.run(nil)
	},
	"too many": func(args []string) {
		c := connect(MsgPack)
		for i := range 4 {
			c.write(args[0], map[string][]any{
				"call": {i, c.me, 1}, "monitor": {i, c.me}, "link": {c.init.(wire.List)[i]},
			}[args[0]]...)
		}
		c.run(nil)
	},
	"call without reading": func([]string) {
		c := connect(MsgPack)
		for i := range 6000 {
			c.write("call", i, c.me, 1, 1)
		}
		c.write("send", "sink", "done")
		forever()
	},
	"answer 0 only": func([]string) { // with 7
		connect(MsgPack).run(map[string]func(c *client, f []any){"call": func(c *client, f []any) {
			if f[1] == 0 {
				c.write("reply", f[0], 7)
			}
		}})
	},
	"die when called": func([]string) { runAnswering(func(any) any { os.Exit(9); return nil }) },
	"read late": func(args []string) {
		c := connect(MsgPack)
		io.Copy(io.Discard, dial(args[0]))
		var seen []int
		c.run(map[string]func(c *client, f []any){
			"info": func(_ *client, f []any) {
				if l, ok := f[0].(wire.List); ok {
					seen = append(seen, l[0].(int))
				}
			},
			"call": func(c *client, f []any) { c.write("reply", f[0], wire.List{len(seen), slices.IsSorted(seen)}) },
		})
	},
	"ten for one": func([]string) {
		connect(MsgPack).run(map[string]func(c *client, f []any){"info": func(c *client, f []any) {
			for range 10 {
				c.write("send", "sink", f[0])
			}
		}})
	},
	"last words": func([]string) {
		c := connect(MsgPack)
		for i := range 3000 {
			c.write("send", "sink", i)
		}
		os.Exit(3)
	},
}

// runs returns the config of a port that runs one of the programs.
func runs(t *testing.T, name string, args ...string) Config {
	t.Helper()
	require.Contains(t, programs, name)
	exe, err := os.Executable()
	require.NoError(t, err)
	return Config{Command: exe, Args: args, Env: map[string]string{programVar: name}, Grace: testkit.Limit}
}

// command returns a command for the program, for another program to start.
func command(name string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), programVar+"="+name)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c
}

func start(c *exec.Cmd) {
	if err := c.Start(); err != nil {
		panic(err)
	}
}

func child(name string, args ...string) { start(command(name, args...)) }

func number(s string) (n int) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

// unquote reads bytes that an argument cannot contain.
func unquote(s string) string {
	b, err := strconv.Unquote(s)
	if err != nil {
		panic(err)
	}
	return b
}

func write(to io.Writer, s string) {
	if _, err := io.WriteString(to, s); err != nil {
		panic(err)
	}
}

// writeAll writes n zeros, or as many of them as possible.
func writeAll(to io.Writer, n int) {
	zeros := make([]byte, 1<<16)
	for n > 0 {
		k, err := to.Write(zeros[:min(n, len(zeros))])
		if n -= k; err != nil {
			return
		}
	}
}

// raise ends this process by a signal.
func raise(s syscall.Signal) {
	signal.Reset(s)
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		panic(err)
	}
	forever()
}

// forever waits for a signal. Without a timer the runtime would report a deadlock.
func forever() { <-time.After(node.Infinity) }

// dial tells the test, which accepts connections, that this process has started: it sends its number and a newline. The
// connection ends when the test closes it, or with the process.
func dial(addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if err == nil {
		_, err = fmt.Fprintln(c, os.Getpid())
	}
	if err != nil {
		panic(err)
	}
	return c
}

// client is a program's side of a port.
type client struct {
	codec          *codec
	in             frames
	me, node, init any
	kept           [][]any // frames that arrived while a call waited
	calls          int
}

// connect reads the frame start.
func connect(kind Codec) *client {
	c := &client{codec: newCodec(kind, 64<<20), in: frames{r: os.Stdin, limit: maxFrame}}
	f := c.read()
	if wordOf(f) != wordStart {
		panic(f)
	}
	c.me, c.node, c.init = f[1], f[2], f[3]
	return c
}

// read returns the next frame, its word first; nil: there is none.
func (c *client) read() []any {
	c.in.buf = nil // terms may point into it
	b, err := c.in.next()
	if err == io.EOF {
		return nil
	}
	var t any
	switch {
	case err != nil:
	case c.codec.kind == ETF:
		t, _, err = c.codec.unetf.Decode(b)
	default:
		t, _, err = c.codec.unpack.Term(b)
	}
	if err != nil {
		panic(err)
	}
	if t, ok := t.(wire.Tuple); ok {
		return t
	}
	return t.(wire.List)
}

func (c *client) write(word string, fields ...any) {
	b, err := c.codec.append(make([]byte, header), word, fields...)
	if err != nil {
		panic(err)
	}
	copy(b, framed(b[header:]))
	if _, err := os.Stdout.Write(b); err != nil {
		panic(err)
	}
}

// call calls another process.
func (c *client) call(fields ...any) (value any, ok bool) {
	c.calls++
	c.write("call", append([]any{c.calls}, fields...)...)
	for {
		f := c.read()
		switch word := wordOf(f); {
		case f == nil:
			panic("the node has closed our stdin")
		case (word == wordAnswer || word == wordError) && f[1] == c.calls:
			return f[2], word == wordAnswer
		}
		c.kept = append(c.kept, f)
	}
}

// run handles frames until there are no more. A handler gets the fields.
func (c *client) run(on map[string]func(c *client, f []any)) {
	for {
		var f []any
		if len(c.kept) > 0 {
			f, c.kept = c.kept[0], c.kept[1:]
		} else if f = c.read(); f == nil {
			return
		}
		if handle, ok := on[wordOf(f)]; ok {
			handle(c, f[1:])
		}
	}
}

func wordOf(f []any) string {
	if f == nil {
		return ""
	}
	word, _ := wire.AsText(f[0])
	return word
}

// runAnswering answers each call with the result of answer.
func runAnswering(answer func(body any) any) {
	connect(MsgPack).run(map[string]func(c *client, f []any){
		"call": func(c *client, f []any) { c.write("reply", f[0], answer(f[1])) },
	})
}

// runCounter is the sample's counter.py, or, with the codec ETF, its counter.escript.
func runCounter(args []string) {
	kind := MsgPack
	if len(args) > 0 {
		kind = Codec(args[0])
	}
	c := connect(kind)
	total, ok := bigOf(c.init)
	if !ok {
		total = new(big.Int)
	}
	answer := func(body any) (any, bool) {
		t, _ := body.(wire.Tuple)
		switch {
		case body == wire.Atom("crash"):
			fmt.Fprintln(os.Stderr, "RuntimeError: told to")
			os.Exit(1)
		case body == wire.Atom("get"):
			return wire.IntegerOf(total), true
		case len(t) == 2 && t[0] == wire.Atom("echo"):
			return t[1], true
		case len(t) == 2 && t[0] == wire.Atom("add"):
			if n, ok := bigOf(t[1]); ok {
				return wire.IntegerOf(total.Add(total, n)), true
			}
		}
		return wire.Tuple{wire.Atom("unknown"), body}, false
	}
	c.write("ready")
	c.run(map[string]func(c *client, f []any){
		"call": func(c *client, f []any) {
			if v, ok := answer(f[1]); ok {
				c.write("reply", f[0], v)
			} else {
				c.write("error", f[0], v)
			}
		},
		"cast": func(_ *client, f []any) { answer(f[0]) },
		"info": func(_ *client, f []any) {
			if t, _ := f[0].(wire.Tuple); len(t) == 2 && t[0] == wire.Atom("ping") {
				c.write("send", t[1], wire.Tuple{wire.Atom("pong"), wire.IntegerOf(total)})
			}
		},
	})
}

func bigOf(t any) (*big.Int, bool) {
	if b, ok := t.(*big.Int); ok {
		return new(big.Int).Set(b), true
	}
	n, ok := wire.AsInt(t)
	return big.NewInt(n), ok
}

// runEverything does what calls tell it to do. The words in args are the last that it sends.
func runEverything(args []string) {
	c := connect(MsgPack)
	tell := func(word string, to ...any) { c.write("send", "sink", append(wire.Tuple{wire.Atom(word)}, to...)) }
	on := map[string]func(c *client, f []any){
		"down": func(_ *client, f []any) { tell("down", f...) },
		"info": func(_ *client, f []any) { tell("info", f...) },
		"cast": func(_ *client, f []any) { tell("cast", f...) },
		"stop": func(_ *client, f []any) { tell("stop", f...) },
	}
	on["call"] = func(c *client, f []any) {
		var value any = wire.Atom("done")
		if f[1] == wire.Atom("where") {
			value = wire.Tuple{c.me, c.node, f[2], c.init}
		} else {
			op := f[1].(wire.Tuple)
			switch word, _ := wire.AsText(op[0]); word {
			case "call":
				fields := append([]any{}, op[1:]...)
				if len(fields) == 3 {
					if seconds, ok := fields[2].(float64); ok {
						fields[2] = int(seconds * 1000)
					}
				} else {
					fields = append(fields, wire.AtomUndefined)
				}
				v, ok := c.call(fields...)
				value = wire.Tuple{wire.Atom("ok"), v}
				if !ok {
					value = wire.Tuple{wire.Atom("failed"), v}
				}
			case "trap":
				on["exit"] = func(_ *client, f []any) { tell("exit", f...) }
				c.write("trap", true)
			default:
				c.write(word, op[1:]...)
			}
		}
		c.write("reply", f[0], value)
	}
	c.run(on)
	for _, a := range args {
		c.write("send", "sink", a)
	}
}

// runPlain uses no extensions.
func runPlain([]string) {
	c := connect(Plain)
	if me, ok := c.me.(wire.Map); !ok || me.Len() != 1 {
		panic(c.me)
	}
	c.run(map[string]func(c *client, f []any){"call": func(c *client, f []any) {
		value := f[1]
		switch s, _ := wire.AsText(f[1]); s {
		case "me":
			value = c.me
		case "ok":
			value = wire.NewMap("$tuple", wire.List{wire.NewMap("$atom", "ok"), "text"})
		}
		c.write("reply", f[0], value)
	}})
}

// environment returns what a program sees: two variables, its folder, how many pipes it has besides those that are
// named, and whether it leads a process group of its own.
func environment(named []string) any {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	mine := make(map[string]bool)
	for _, f := range files {
		to, _ := os.Readlink("/proc/self/fd/" + f.Name())
		if strings.Contains(to, "pipe:") && !slices.Contains(named, to) {
			mine[to] = true
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return wire.List{os.Getenv("PORT_TEST_A"), os.Getenv("PORT_TEST_B"), dir, len(mine), syscall.Getpgrp() == os.Getpid()}
}

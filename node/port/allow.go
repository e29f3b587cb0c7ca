package port

import (
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// Module is the module under which [Allow] offers ports.
const Module wire.Atom = "port"

var errNotLocalParent = fmt.Errorf("%w: only a process of this node may start a port by name", ErrConfig)

// Allow lets supervisors that are described by text start ports: port:start/1,
// whose argument is a map, or a list of pairs, with the fields of a [Config] in
// snake case, for keys atoms or text:
//
//	command, dir   text
//	args           a list of text
//	env            a map, or a list of pairs, of text
//	codec          msgpack, plain or etf
//	init           any term
//	ready, stall, grace
//	               a time as in 500ms or 1m30s, or milliseconds; stall also infinity
//	frame, queue, open, log_rate
//	               integers
//
// A caller that may run a program may do whatever this node may. So a process of this node,
// such as a supervisor, must spawn the port: a spawn by another node, or by spawn of
// package node, ends with {bad_config, _}. But a supervisor takes children from any process
// that can send to it: use Allow only where every node that knows the cookie may run programs,
// otherwise [Make]. check, if not nil, is called for each Config; its
// error is the exit reason's text. A second Allow returns [node.ErrNameTaken].
func Allow(n *node.Node, check func(Config) error) error {
	return rpc.ExportBehaviour(n, wire.Export{Module: Module, Function: "start", Arity: 1}, func(args []any) (node.Actor, error) {
		cfg, err := readConfig(args[0])
		if err == nil && check != nil {
			err = check(cfg)
		}
		if err != nil {
			return nil, node.ExitWith(wire.Tuple{wire.Atom("bad_config"), err.Error()})
		}
		return &port{cfg: cfg, localParentOnly: true}, nil
	})
}

// Make lets only files start ports: it reads the one argument of port:start/1 as [Allow] says, and returns a function
// that makes the ports; the node need not call Allow. It is a Make of package supervisor/tree, for the field Own of its
// Known.
func Make(args []any) (start func(more ...any) (node.Actor, error), err error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%w: %d arguments; want one", ErrConfig, len(args))
	}
	cfg, err := readConfig(args[0])
	if err != nil {
		return nil, err
	}
	return func(more ...any) (node.Actor, error) {
		if len(more) > 0 {
			return nil, node.ExitWith(wire.Tuple{wire.Atom("bad_config"), "arguments in addition to those of the file"})
		}
		return New(cfg), nil
	}, nil
}

// readConfig reads a Config from a term, as [Allow] says. The error is [ErrConfig].
func readConfig(term any) (cfg Config, err error) {
	err = eachPair(term, func(key string, v any) (err error) {
		switch key {
		case "command":
			cfg.Command, err = readText(v)
		case "dir":
			cfg.Dir, err = readText(v)
		case "args":
			cfg.Args, err = readTexts(v)
		case "env":
			cfg.Env = make(map[string]string)
			err = eachPair(v, func(key string, v any) (err error) {
				cfg.Env[key], err = readWord(v)
				return err
			})
		case "codec":
			cfg.Codec, err = readCodec(v)
		case "init":
			cfg.Init = v
		case "ready":
			cfg.Ready, err = readTime(v)
		case "stall":
			cfg.Stall, err = readTime(v)
		case "grace":
			cfg.Grace, err = readTime(v)
		case "frame":
			cfg.Frame, err = readSize(v)
		case "queue":
			cfg.Queue, err = readSize(v)
		case "open":
			cfg.Open, err = readSize(v)
		case "log_rate":
			cfg.LogRate, err = readSize(v)
		default:
			return errors.New("unknown field; want command, args, env, dir, codec, init, ready, frame, queue, stall, open, grace or " +
				"log_rate")
		}
		return err
	})
	if err != nil {
		return cfg, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	_, err = cfg.defaults()
	return cfg, err
}

// eachPair calls f for each pair of a map, or of a list of pairs.
func eachPair(t any, f func(key string, v any) error) error {
	one := func(k, v any) error {
		key, ok := wire.AsText(k)
		if !ok {
			return fmt.Errorf("the key %s; want text", brief(k))
		}
		if err := f(key, v); err != nil {
			return fmt.Errorf("%s: %w", wire.Describe(key, maxBrief), err)
		}
		return nil
	}
	if m, ok := t.(wire.Map); ok {
		for k, v := range m.All() {
			if err := one(k, v); err != nil {
				return err
			}
		}
		return nil
	}
	l, ok := wire.AsList(t)
	if !ok {
		return fmt.Errorf("%s; want a map", brief(t))
	}
	for _, e := range l {
		pair, ok := e.(wire.Tuple)
		if !ok || len(pair) != 2 {
			return fmt.Errorf("%s in a list of pairs; want {Key, Value}", brief(e))
		}
		if err := one(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func wrong(t any, want string) error { return fmt.Errorf("%s; want %s", brief(t), want) }

func readText(t any) (string, error) {
	if s, ok := wire.AsText(t); ok {
		return s, nil
	}
	return "", wrong(t, "text")
}

func readTexts(t any) (all []string, err error) {
	l, ok := wire.AsList(t)
	if !ok {
		return nil, wrong(t, "a list of text")
	}
	for _, e := range l {
		s, err := readWord(e)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// readWord reads text, or an integer for its digits: PORT: 8080 in YAML.
func readWord(t any) (string, error) {
	if n, ok := wire.AsInt(t); ok {
		return fmt.Sprint(n), nil
	}
	return readText(t)
}

func readCodec(t any) (Codec, error) {
	s, _ := wire.AsText(t)
	if c := Codec(s); c.isValid() {
		return c, nil
	}
	return "", wrong(t, "msgpack, plain or etf")
}

func readTime(t any) (time.Duration, error) {
	if n, ok := wire.AsInt(t); ok && n > 0 && n <= int64(node.Infinity/time.Millisecond) {
		return time.Duration(n) * time.Millisecond, nil
	}
	s, _ := wire.AsText(t)
	if s == "infinity" {
		return node.Infinity, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, wrong(t, "a time above 0 as in 500ms or 2s, or milliseconds")
}

func readSize(t any) (int, error) {
	if n, ok := wire.AsInt(t); ok && n > 0 && n <= maxFrame {
		return int(n), nil
	}
	return 0, wrong(t, fmt.Sprintf("an integer from 1 to %d", maxFrame))
}

package port

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
)

// ErrConfig says that a [Config] is invalid; the error that wraps it says where
// and what is allowed.
var ErrConfig = errors.New("port: invalid configuration")

// Codec is what the frames hold.
type Codec string

const (
	MsgPack Codec = "msgpack" // msgpack with extensions
	Plain   Codec = "plain"   // msgpack without extensions; does not tell atoms, text and tuples apart
	ETF     Codec = "etf"     // Erlang's external term format, as {packet, 4} and term_to_binary make it
)

func (c Codec) isValid() bool { return c == MsgPack || c == Plain || c == ETF }

// Config of a port. Only Command has no default.
type Config struct {
	// Command is the program: a path, or a name to look up in PATH. A relative path is relative to this node's
	// directory, not to Dir.
	Command string
	// Args are its arguments, without the program's name.
	Args []string
	// Env are environment variables besides, or instead of, those of this node. The program does not inherit the node's
	// variables ACTORNODE_…, which may be secrets such as the cookie, nor those of systemd.
	Env map[string]string
	// Dir is the program's directory. Default: this node's.
	Dir string

	// Codec is what the frames hold. Default: MsgPack.
	Codec Codec
	// Init is a term that the program gets when it starts. Default: undefined.
	Init any
	// Ready is how long the program may take to say that it is ready; then the process has started. Default: the
	// process has started when the program runs.
	Ready time.Duration

	// Frame is how many bytes one frame may have, in both directions. Default:
	// 64 MiB.
	Frame int
	// Queue is how many bytes may wait for the program to read them before the port takes no more messages: these then
	// wait in its mailbox, see [node.Options].Bounds. Default: 1 MiB.
	Queue int
	// Stall is how long the program may read nothing while bytes wait for it.
	// Default: 30 s. [node.Infinity]: for ever.
	Stall time.Duration
	// Open is how many calls to the program, calls by the program, monitors and links it may have at a time, each.
	// Default: 65,536.
	Open int
	// Grace is how long the program has to exit after its stdin is closed, and again after it is sent SIGTERM. Default:
	// 2 s, so that both fit into the 5 s that a supervisor waits.
	Grace time.Duration
	// LogRate is how many lines of the program's stderr are logged a second, and how many messages that could not be
	// given to it or sent for it. Of those above it the last is logged, when the second is over, with the number of the
	// others. Default: 100.
	LogRate int
}

// maxFrame is the largest Frame: the length has 32 bits, and an int may not have
// more.
const maxFrame = math.MaxInt32

// defaults returns cfg with its defaults, or says what is wrong with it.
func (cfg Config) defaults() (Config, error) {
	for _, f := range []struct {
		name string
		v    *int
		d    int
	}{
		{"Frame", &cfg.Frame, 64 << 20}, {"Queue", &cfg.Queue, 1 << 20}, {"Open", &cfg.Open, 1 << 16}, {"LogRate", &cfg.LogRate, 100},
	} {
		if *f.v < 0 || *f.v > maxFrame {
			return cfg, fmt.Errorf("%w: %s is %d; want 1 to %d, or 0 for %d", ErrConfig, f.name, *f.v, maxFrame, f.d)
		}
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	for _, f := range []struct {
		name string
		v    *time.Duration
		d    time.Duration
	}{
		{"Ready", &cfg.Ready, 0}, {"Stall", &cfg.Stall, 30 * time.Second}, {"Grace", &cfg.Grace, 2 * time.Second},
	} {
		if *f.v < 0 {
			return cfg, fmt.Errorf("%w: %s is %v; want a time above 0", ErrConfig, f.name, *f.v)
		}
		if *f.v == 0 {
			*f.v = f.d
		}
	}
	cfg.Codec = cmp.Or(cfg.Codec, MsgPack)
	switch {
	case cfg.Command == "":
		return cfg, fmt.Errorf("%w: Command is missing; want the program to run", ErrConfig)
	case !cfg.Codec.isValid():
		return cfg, fmt.Errorf("%w: Codec is %q; want msgpack, plain or etf", ErrConfig, cfg.Codec)
	case cfg.Init == nil:
		cfg.Init = node.Atom("undefined")
	}
	return cfg, nil
}

func init() { values.Enter(ErrBusy, ErrConfig, ErrFrame) }

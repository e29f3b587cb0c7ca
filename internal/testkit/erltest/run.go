package erltest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/actornode/actornode/internal/testkit"
)

// Cookie is that of nodes by default.
const Cookie = "secret"

// Has reports whether a real OTP may be asked: in make merge, or with -update, where erl
// and erlc are on the PATH.
func Has() bool {
	if !allowed() {
		return false
	}
	_, noErl := exec.LookPath("erl")
	_, noErlc := exec.LookPath("erlc")
	return noErl == nil && noErlc == nil
}

// allowed reports whether programs beside Go may be started.
func allowed() bool { return *update || testkit.At() >= testkit.Merge }

// Need leaves a test to make merge. There it skips it where no Erlang is installed.
func Need(t testing.TB) {
	t.Helper()
	NeedTool(t, "erl")
	NeedTool(t, "erlc")
}

// NeedTool leaves a test to make merge, unless -update is set, and skips it where a
// program is not installed. It returns the path of the program.
func NeedTool(t testing.TB, name string, _ ...string) (path string) {
	t.Helper()
	least := testkit.Merge
	if *update {
		least = testkit.Test
	}
	return testkit.Program(t, least, name)
}

// NeedTLS is Need, and skips a test too where OTP is without ssl.
func NeedTLS(t testing.TB) {
	t.Helper()
	Need(t)
	if !hasTLS() {
		t.Skip("not installed: ssl of OTP (Debian: erlang-ssl)")
	}
}

var hasTLS = sync.OnceValue(func() bool {
	return exec.Command("erl", "-noinput", "-eval",
		"halt(case [code:which(M) || M <- [inet_tls_dist, crypto, public_key, 'OTP-PUB-KEY']] of [_|_] = L -> "+
			"case lists:member(non_existing, L) of true -> 1; false -> 0 end end).").Run() == nil
})

// Options say how erl is started. The zero value is an Erlang that is no node, with
// one scheduler.
type Options struct {
	// Name is that of the node, "" for none: a long name, or, with Short, a short
	// one. A node at 127.0.0.1 listens there only.
	Name  string
	Short bool

	// Cookie is the node's; default: Cookie.
	Cookie string

	// EPMD is the port where it looks for EPMD; 0: a port where none is.
	EPMD int

	// Sources are modules of Erlang that it has beside its own.
	Sources []string

	// Args are further arguments of erl, which win over what is said above.
	Args []string
}

// Command is an erl with Options, yet to be started, that is killed when ctx ends.
// It has no shell and reads no input.
func Command(ctx context.Context, t testing.TB, o Options) *exec.Cmd {
	t.Helper()
	return command(ctx, t, o, "-noinput")
}

// command is Command with -noinput or -noshell.
func command(ctx context.Context, t testing.TB, o Options, input string) *exec.Cmd {
	t.Helper()
	args := []string{"+S", "1:1", "+pc", "unicode", input, "-pa", Compile(t, o.Sources...)}
	if o.Name != "" {
		kind := "-name"
		if o.Short {
			kind = "-sname"
		}
		if o.Cookie == "" {
			o.Cookie = Cookie
		}
		args = append(args, kind, o.Name, "-setcookie", o.Cookie, "-start_epmd", "false")
		if strings.HasSuffix(o.Name, "@127.0.0.1") {
			args = append(args, "-kernel", "inet_dist_use_interface", "{127,0,0,1}")
		}
	}
	cmd := exec.CommandContext(ctx, "erl", append(args, o.Args...)...)
	cmd.Env = []string{"ERL_EPMD_PORT=" + strconv.Itoa(o.EPMD), "ERL_CRASH_DUMP=/dev/null", "ERL_CRASH_DUMP_SECONDS=0",
		"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	cmd.WaitDelay = testkit.Limit
	return cmd
}

// Run runs erl to its end and returns what it has printed; an error says that its
// status was not 0, or that it was stopped after testkit.Limit. It runs in the
// test's folder and reads no input. An -eval or -run among the Args must end it.
func Run(t testing.TB, o Options) (printed string, err error) {
	t.Helper()
	ctx := testkit.Context(t)
	out, err := Command(ctx, t, o).CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return string(out), err
}

// Main is Run of MODULE:main(Args), where source is the module's and Args are lists
// of characters, as in escripts; logs are off. The test fails unless it ends with
// status 0.
func Main(t testing.TB, source string, args ...string) (printed string) {
	t.Helper()
	printed, err := Run(t, MainOptions(source, args...))
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, printed)
	}
	return printed
}

// MainOptions are what Main runs with.
func MainOptions(source string, args ...string) Options {
	module := strings.TrimSuffix(source[strings.LastIndexByte(source, '/')+1:], ".erl")
	// erl goes on when an -eval fails unless it is told otherwise.
	eval := "try " + module + ":main(init:get_plain_arguments()), halt(0) " +
		`catch C:R:S -> io:format(standard_error, "~tp:~tp~n~tp~n", [C, R, S]), halt(1) end.`
	return Options{
		Sources: []string{source},
		Args:    append([]string{"-kernel", "logger_level", "none", "-eval", eval, "-extra"}, args...),
	}
}

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

// Cookie is the default cookie of nodes.
const Cookie = "secret"

// Has reports whether a real OTP may be used: in make merge, or with -update, if erl and erlc are on the PATH.
func Has() bool {
	if !allowed() {
		return false
	}
	_, noErl := exec.LookPath("erl")
	_, noErlc := exec.LookPath("erlc")
	return noErl == nil && noErlc == nil
}

// allowed reports whether programs other than Go may be started.
func allowed() bool { return *update || testkit.At() >= testkit.Merge }

// Need skips a test below make merge, and without an installed Erlang.
func Need(t testing.TB) {
	t.Helper()
	NeedTool(t, "erl")
	NeedTool(t, "erlc")
}

// NeedTool skips a test below make merge, unless -update is set, and if the program name is not installed. It returns the
// path of the program.
func NeedTool(t testing.TB, name string, _ ...string) (path string) {
	t.Helper()
	least := testkit.Merge
	if *update {
		least = testkit.Test
	}
	return testkit.Program(t, least, name)
}

// NeedTLS is like Need, and also skips a test if OTP lacks ssl.
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

// Options configures erl. The zero value is an Erlang that is not a node, with one scheduler.
type Options struct {
	// Name is the name of the node, or "" for none: a long name, or a short one with Short. A node at 127.0.0.1 listens
	// only there.
	Name  string
	Short bool

	// Cookie is the node's; default: Cookie.
	Cookie string

	// EPMD is the port of its EPMD; 0 means a port without one.
	EPMD int

	// Sources are additional Erlang modules.
	Sources []string

	// Args are further arguments of erl, which override the other fields.
	Args []string
}

// Command returns a command for erl, not yet started, that is killed when ctx ends. It has no shell and reads no input.
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

// Run runs erl to its end and returns its output. The error means that its status was not 0, or that it was killed after
// testkit.Limit. It runs in the test's directory and reads no input. An -eval or -run in Args must end it.
func Run(t testing.TB, o Options) (printed string, err error) {
	t.Helper()
	ctx := testkit.Context(t)
	out, err := Command(ctx, t, o).CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return string(out), err
}

// Main runs MODULE:main(Args) of the module in source, with arguments as lists of characters, as in escripts, and without
// logs. The test fails unless the status is 0.
func Main(t testing.TB, source string, args ...string) (printed string) {
	t.Helper()
	printed, err := Run(t, MainOptions(source, args...))
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, printed)
	}
	return printed
}

// MainOptions returns the options of Main.
func MainOptions(source string, args ...string) Options {
	module := strings.TrimSuffix(source[strings.LastIndexByte(source, '/')+1:], ".erl")
	// By default erl continues after a failed -eval.
	eval := "try " + module + ":main(init:get_plain_arguments()), halt(0) " +
		`catch C:R:S -> io:format(standard_error, "~tp:~tp~n~tp~n", [C, R, S]), halt(1) end.`
	return Options{
		Sources: []string{source},
		Args:    append([]string{"-kernel", "logger_level", "none", "-eval", eval, "-extra"}, args...),
	}
}

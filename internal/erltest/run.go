package erltest

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long what an Erlang is to do may take.
const Patience = 60 * time.Second

// Cookie is that of nodes by default.
const Cookie = "secret"

// Has reports whether there is an Erlang: erl and erlc on the PATH.
func Has() bool {
	_, noErl := exec.LookPath("erl")
	_, noErlc := exec.LookPath("erlc")
	return noErl == nil && noErlc == nil
}

// Need skips a test where there is no Erlang.
func Need(t testing.TB) {
	t.Helper()
	if !Has() {
		t.Skip("erl or erlc is not on the PATH: nothing is compared with OTP")
	}
}

// NeedTool returns where a program is. It skips a test where there is none, and says
// what is lost with that.
func NeedTool(t testing.TB, name, lost string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on the PATH: %s", name, lost)
	}
	return path
}

// NeedNodes is Need, and skips a test with -short too.
func NeedNodes(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Erlang node is started")
	}
	Need(t)
}

// NeedTLS is Need, and skips a test too where OTP is without ssl.
func NeedTLS(t testing.TB) {
	t.Helper()
	Need(t)
	if !hasTLS() {
		t.Skip("OTP has no ssl here (Debian: erlang-ssl): TLS is not tried with it")
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
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// Run runs erl to its end and returns what it has printed; an error says that its
// status was not 0, or that it was stopped after twice the Patience. It runs in the
// test's folder and reads no input. An -eval or -run among the Args must end it.
func Run(t testing.TB, o Options) (printed string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*Patience)
	defer cancel()
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

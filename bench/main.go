package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"

	"github.com/actornode/actornode/bench/internal/contest"
	"github.com/actornode/actornode/bench/internal/contract"
)

func main() {
	stop, err := profile(os.Getenv(profileFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(contract.Failed)
	}
	status := command(os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// profileFile is the environment variable that names the file for profile, or a directory, with a trailing slash.
const profileFile = "BENCH_CPUPROFILE"

// profile writes a CPU profile of the run to file until stop is called, or none if file is "". In a directory the file is
// named after the process.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	if isFolder(file) {
		file += strconv.Itoa(os.Getpid()) + ".pprof"
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func isFolder(file string) bool { return strings.HasSuffix(file, "/") }

// farProfile is the value of profileFile for the far end if file is the one of the near end.
func farProfile(file string) string {
	if file == "" || isFolder(file) {
		return file
	}
	return file + ".far"
}

// system is this node with its benches; add a new one only here.
func system() contract.System {
	return contract.System{Name: "actornode", Version: version(), Benches: []contract.Bench{
		threadring,
		ring,
		latency,
		mailbox,
		flow,
		chameneos,
		big,
		fib,
		nqueens,
		spawn,
		mixed,
		coop,
		collect,
		matching,
		copying,
		await,
		until,
		join,
		selective,
		blocking,
		gencall,
		restart,
		supertree,
		etfEncode,
		etfDecode,
		remoteLatency,
		remoteBulk,
		remoteIdle,
		remoteThroughput,
		remoteSpawn,
		remoteCall,
		remoteCPU,
	}}
}

// command runs a command line and returns the exit status.
func command(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "compare" {
		return compare(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "ablation" {
		return ablation(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "soak" {
		return soak(args[1:], stdout, stderr)
	}
	return system().Main(args, stdout, stderr)
}

func compare(args []string, stdout, stderr io.Writer) int {
	dir, err := contest.Folder()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return contract.Failed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return contest.Main(ctx, system(), dir, args, stdout, stderr)
}

func ablation(args []string, stdout, stderr io.Writer) int {
	dir, err := contest.Folder()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return contract.Failed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return contest.Ablation(ctx, dir, args, stdout, stderr)
}

// version returns the module's version, "dev" for a build from a work tree.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

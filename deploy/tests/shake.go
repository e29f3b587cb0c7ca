package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// shake runs the tests of make test repeatedly, shuffled, with different numbers of processors, while other programs keep
// the processors and the disk busy. Each run of a package is a line in a file, so that it can be interrupted and results
// add up. A result counts only for its test binary: a changed package starts again.
type shake struct {
	run     *run
	results string // the file
	rounds  int
	folder  string // for test binaries
	mu      sync.Mutex
	failed  []string
}

// binary is a compiled test of a package.
type binary struct {
	pkg, dir, path, hash string
}

// result is a line of the results file.
type result struct {
	Package string
	Binary  string // prefix of its SHA-256
	Procs   int    // GOMAXPROCS
	Shuffle uint64
	OK      bool
	Seconds float64
	At      time.Time
}

// processors are the values of GOMAXPROCS, which rounds use in turn.
var processors = []int{1, 2, 8}

func shakeCommand(ctx context.Context, root string, args []string) error {
	s := &shake{run: newRun(root, "shake")}
	s.run.ctx, s.run.log = ctx, os.Stderr
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flags := flag.NewFlagSet("shake", flag.ContinueOnError)
	flags.StringVar(&s.results, "results", filepath.Join(cache, "actornode-tests", "shake.jsonl"), "where results are added up")
	flags.IntVar(&s.rounds, "rounds", 20, "how often each package has run at the end, with earlier runs of the same binary")
	quiet := flags.Bool("quiet", false, "keep neither processors nor the disk busy")
	if err := flags.Parse(args); err != nil {
		return err
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if err := os.MkdirAll(filepath.Dir(s.results), 0o777); err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "actornode-shake-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	binaries, err := s.build(patterns)
	if err != nil {
		return err
	}
	if !*quiet {
		stop, err := keepBusy(ctx, s.folder)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := s.shakeAll(binaries); err != nil {
		return err
	}
	return s.report(binaries)
}

// build compiles the tests of each package into a binary.
func (s *shake) build(patterns []string) ([]binary, error) {
	var out bytes.Buffer
	list := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"}, patterns...)
	if err := s.run.start(".", nil, &out, "go", list...); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &out)
	}
	var all []binary
	for line := range strings.Lines(out.String()) {
		if pkg, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, binary{pkg: pkg, dir: dir})
		}
	}
	// go test -c names files by the last element of the package path: packages that share it are compiled one after the
	// other.
	for n, rest := 0, all; len(rest) > 0; n++ {
		var now, later []binary
		taken := map[string]bool{}
		for _, b := range rest {
			name := filepath.Base(b.pkg)
			if taken[name] {
				later = append(later, b)
				continue
			}
			taken[name] = true
			now = append(now, b)
		}
		if err := s.compile(filepath.Join(s.folder, strconv.Itoa(n)), now, all); err != nil {
			return nil, err
		}
		rest = later
	}
	return all, nil
}

// compile compiles the tests of packages with different names into a directory.
func (s *shake) compile(folder string, now, all []binary) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	args := []string{"test", "-c", "-o", folder + string(filepath.Separator)}
	for _, b := range now {
		args = append(args, b.pkg)
	}
	var out bytes.Buffer
	if err := s.run.start(".", nil, &out, "go", args...); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, lastLines(out.String(), 40))
	}
	for _, b := range now {
		i := slices.IndexFunc(all, func(a binary) bool { return a.pkg == b.pkg })
		all[i].path = filepath.Join(folder, filepath.Base(b.pkg)+".test")
		f, err := os.Open(all[i].path)
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return err
		}
		all[i].hash = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return nil
}

// known reads the results of the current binaries.
func (s *shake) known(binaries []binary) (map[string][]result, error) {
	now := map[string]string{}
	for _, b := range binaries {
		now[b.pkg] = b.hash
	}
	known := map[string][]result{}
	text, err := os.ReadFile(s.results)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	for line := range bytes.Lines(text) {
		var r result
		if json.Unmarshal(line, &r) == nil && now[r.Package] == r.Binary {
			known[r.Package] = append(known[r.Package], r)
		}
	}
	return known, err
}

// shakeAll runs the missing rounds, round by round, two packages at a time.
func (s *shake) shakeAll(binaries []binary) error {
	known, err := s.known(binaries)
	if err != nil {
		return err
	}
	for round := range s.rounds {
		begun, ran := time.Now(), 0
		var wait sync.WaitGroup
		slots := make(chan struct{}, 2)
		for _, b := range binaries {
			if len(known[b.pkg]) > round || s.run.ctx.Err() != nil {
				continue
			}
			ran++
			slots <- struct{}{}
			wait.Go(func() { // ends with the run of the package
				defer func() { <-slots }()
				s.once(b, processors[round%len(processors)])
			})
		}
		wait.Wait()
		if ran > 0 {
			fmt.Printf("round %d: GOMAXPROCS=%d, %d packages in %v, %d failures so far\n",
				round+1, processors[round%len(processors)], ran, time.Since(begun).Round(time.Second), len(s.failed))
		}
	}
	return s.run.ctx.Err()
}

// once runs a package once, and adds a line to the results.
func (s *shake) once(b binary, procs int) {
	r := result{Package: b.pkg, Binary: b.hash, Procs: procs, Shuffle: rand.Uint64N(1 << 32), At: time.Now()}
	cmd := exec.CommandContext(s.run.ctx, b.path, "-test.timeout=60m", "-test.shuffle="+strconv.FormatUint(r.Shuffle, 10))
	cmd.Dir = b.dir
	cmd.Env = append(append(os.Environ(), environment()...), "GOMAXPROCS="+strconv.Itoa(procs), "ACTORNODE_TESTS=test")
	out, err := cmd.CombinedOutput()
	if s.run.ctx.Err() != nil {
		return
	}
	r.OK, r.Seconds = err == nil, time.Since(r.At).Seconds()
	line, _ := json.Marshal(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed = append(s.failed, b.pkg)
		fmt.Printf("--- %s failed with GOMAXPROCS=%d -shuffle=%d: %v\n%s\nall of it is in %s\n", b.pkg, procs, r.Shuffle, err,
			lastLines(string(out), 40), s.keep(b, r, out))
	}
	f, err := os.OpenFile(s.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests: a result is lost:", err)
	}
}

// keep writes the output of a failed run next to the results, and returns the file.
func (s *shake) keep(b binary, r result, out []byte) string {
	name := fmt.Sprintf("%s-%d-%d.log", strings.ReplaceAll(short(b.pkg), "/", "_"), r.Procs, r.Shuffle)
	path := filepath.Join(filepath.Dir(s.results), name)
	if err := os.WriteFile(path, out, 0o666); err != nil {
		return err.Error()
	}
	return path
}

// report prints the runs of the current binaries.
func (s *shake) report(binaries []binary) error {
	known, err := s.known(binaries)
	if err != nil {
		return err
	}
	runs, failures, fewest := 0, 0, -1
	by := map[int]int{} // minimum runs of a package, by processors
	for _, p := range processors {
		by[p] = -1
	}
	for _, b := range binaries {
		n := map[int]int{}
		for _, r := range known[b.pkg] {
			n[r.Procs]++
			if !r.OK {
				failures++
				fmt.Printf("failed: %s GOMAXPROCS=%d -shuffle=%d at %s\n", r.Package, r.Procs, r.Shuffle, r.At.Format(time.DateTime))
			}
		}
		runs += len(known[b.pkg])
		fewest = fewer(fewest, len(known[b.pkg]))
		for _, p := range processors {
			by[p] = fewer(by[p], n[p])
		}
	}
	fmt.Printf("%d packages, %d runs, at least %d of each (GOMAXPROCS 1: %d, 2: %d, 8: %d), %d failures\n",
		len(binaries), runs, max(fewest, 0), by[1], by[2], by[8], failures)
	if failures > 0 {
		return fmt.Errorf("%d runs have failed", failures)
	}
	return nil
}

// fewer returns the lower number; negative ones are unknown.
func fewer(a, b int) int {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// keepBusy starts programs that load each processor, at least two, and the disk of a directory. They end with stop, or with
// this program, which closes their standard input.
func keepBusy(ctx context.Context, folder string) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stops []func()
	stop = func() {
		for _, s := range slices.Backward(stops) {
			s()
		}
	}
	all := [][]string{{"burn", "disk", folder}}
	for range max(2, runtime.NumCPU()) {
		all = append(all, []string{"burn", "processor"})
	}
	for _, args := range all {
		cmd := exec.CommandContext(ctx, self, args...)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, func() { in.Close(); cmd.Wait() })
	}
	return stop, nil
}

// burn keeps a processor, or the disk of a directory, busy until standard input ends.
func burn(args []string) error {
	go func() { // ends the program
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	what := cmp.Or(strings.Join(args[:min(1, len(args))], ""), "processor")
	block := make([]byte, 4<<20)
	for {
		if what != "disk" {
			sha256.Sum256(block)
			continue
		}
		if err := writeOnce(filepath.Join(args[1], "burn"), block); err != nil {
			return err
		}
	}
}

// writeOnce writes a file through to the disk.
func writeOnce(path string, b []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

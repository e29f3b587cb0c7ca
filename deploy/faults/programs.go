package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Programs are the compiled tests of a tree with all faults. Each is built on first use.
type programs struct {
	folder  string
	overlay string
	all     map[string]pkg // by import path
	made    map[string]string
}

// newPrograms weaves the faults into the tree of r.
func newPrograms(r *runner, faults []fault, all []pkg) (*programs, error) {
	woven, err := weave(r.root, faults)
	if err != nil {
		return nil, err
	}
	p := &programs{all: map[string]pkg{}, made: map[string]string{}}
	for _, x := range all {
		p.all[x.ImportPath] = x
	}
	if p.folder, err = os.MkdirTemp("", "faults"); err != nil {
		return nil, err
	}
	p.overlay, err = r.overlay(woven, p.folder)
	return p, err
}

// make compiles the tests of a package.
func (p *programs) make(r *runner, path string) (program string, err error) {
	if program = p.made[path]; program != "" {
		return program, nil
	}
	program = filepath.Join(p.folder, strings.ReplaceAll(path, "/", "_")+".test")
	out, err := r.command(p.overlay, "", "go", "test", "-c", "-vet=off", "-o", program, path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", path, err, lastLines(string(out), 20))
	}
	p.made[path] = program
	return program, nil
}

// test is runner.test with the program of each package.
func (p *programs) test(r *runner, in tree, tier string, c choice, paths []string) (all outcome) {
	for _, path := range paths {
		program, err := p.make(r, path)
		if err != nil {
			return outcome{broken: err.Error()}
		}
		args, timeout := []string{program, "-test.v=test2json", "-test.failfast", "-test.paniconexit0"}, r.timeout
		if c.only != "" {
			args, timeout = append(args, "-test.run", c.only), min(timeout, r.single)
		}
		if len(c.skip) > 0 {
			args = append(args, "-test.skip", c.skipped())
		}
		cmd := r.command(p.overlay, tier, append(args, "-test.timeout", timeout.String())...)
		cmd.Dir = p.all[path].Dir
		cmd.Env = append(cmd.Env, "PWD="+cmd.Dir, planted+"="+in.fault)
		o, err := p.follow(r, cmd, path)
		if err != nil {
			return outcome{broken: err.Error()}
		}
		all.failed = append(all.failed, o.failed...)
		if len(all.failed) > 0 {
			break
		}
	}
	return all
}

// follow runs the tests of a package, and kills them if none has started or ended for too long. Then the running ones count
// as failed.
func (p *programs) follow(r *runner, cmd *exec.Cmd, path string) (outcome, error) {
	out := &noted{at: time.Now()}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second // programs left behind by a test hold the output open
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }() // ends with the program, awaited below
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-over:
			return r.judge(out.text(), path, err)
		case <-tick.C:
			if out.quiet() > r.quiet || out.full() {
				_ = cmd.Process.Kill()
			}
		}
	}
}

// judge evaluates the output and the exit of a test program.
func (r *runner) judge(printed []byte, path string, ended error) (outcome, error) {
	convert := r.command("", "", "go", "tool", "test2json", "-t", "-p", path)
	convert.Stdin = bytes.NewReader(printed)
	lines, err := convert.Output()
	if err != nil {
		return outcome{}, fmt.Errorf("test2json: %w", err)
	}
	if ended != nil {
		line, err := json.Marshal(event{Action: "fail", Package: path})
		if err != nil {
			return outcome{}, err
		}
		lines = append(append(lines, line...), '\n')
	}
	o := read(lines)
	if ended != nil && len(o.failed) == 0 {
		r.log("  no test is to blame: %v: %s", ended, lastLines(text(lines), 12))
	}
	return o, nil
}

// noted keeps its input, and the time of the last write.
type noted struct {
	mu  sync.Mutex
	all bytes.Buffer
	at  time.Time
}

// Write is part of io.Writer.
func (n *noted) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = time.Now()
	if n.all.Len() < mostPrinted {
		n.all.Write(b)
	}
	return len(b), nil
}

// mostPrinted bounds the output of tests: one in an endless loop would print forever.
const mostPrinted = 64 << 20

func (n *noted) full() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all.Len() >= mostPrinted
}

func (n *noted) quiet() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(n.at)
}

func (n *noted) text() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return bytes.Clone(n.all.Bytes())
}

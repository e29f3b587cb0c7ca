package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Programs are the compiled tests of a tree with all faults in it. Each is made when it is needed first.
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
		args := []string{"go", "tool", "test2json", "-t", "-p", path,
			program, "-test.v=test2json", "-test.failfast", "-test.paniconexit0"}
		timeout := r.timeout
		if c.only != "" {
			args, timeout = append(args, "-test.run", c.only), min(timeout, r.single)
		}
		if len(c.skip) > 0 {
			args = append(args, "-test.skip", c.skipped())
		}
		cmd := r.command(p.overlay, tier, append(args, "-test.timeout", timeout.String())...)
		cmd.Dir = p.all[path].Dir
		cmd.Env = append(cmd.Env, "PWD="+cmd.Dir, planted+"="+in.fault)
		o := r.run(cmd)
		all.failed = append(all.failed, o.failed...)
		if len(all.failed) > 0 {
			break
		}
	}
	return all
}

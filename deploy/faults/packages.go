package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// A pkg is a package as reported by go list.
type pkg struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
	TestGoFiles, XTestGoFiles          []string

	size int64 // bytes of its tests
}

// packages lists the packages that match the patterns, relative to root.
func packages(root string, patterns []string) ([]pkg, error) {
	fields := "-json=ImportPath,Dir,Imports,TestImports,XTestImports,TestGoFiles,XTestGoFiles"
	cmd := exec.Command("go", append([]string{"list", fields}, patterns...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		for _, name := range append(append([]string{}, p.TestGoFiles...), p.XTestGoFiles...) {
			if info, err := os.Stat(filepath.Join(p.Dir, name)); err == nil {
				p.size += info.Size()
			}
		}
		all = append(all, p)
	}
}

// near lists the packages whose tests depend on a changed one: first the changed ones, then by distance of the dependency,
// then by size.
func near(all []pkg, changed map[string]bool, except []string) []pkg {
	distance := distances(all, changed)
	far := map[string]int{}
	var chosen []pkg
	for _, p := range all {
		if p.size == 0 || excepted(p.ImportPath, except) {
			continue
		}
		best, ok := distance[p.ImportPath]
		for _, i := range append(append([]string{}, p.TestImports...), p.XTestImports...) {
			if n, depends := distance[i]; depends && (!ok || n+1 < best) {
				best, ok = n+1, true
			}
		}
		if ok {
			far[p.ImportPath] = best
			chosen = append(chosen, p)
		}
	}
	sort.SliceStable(chosen, func(i, j int) bool {
		a, b := chosen[i], chosen[j]
		if far[a.ImportPath] != far[b.ImportPath] {
			return far[a.ImportPath] < far[b.ImportPath]
		}
		return a.size > b.size
	})
	return chosen
}

// distances returns the number of imports between each package and a changed one, without tests.
func distances(all []pkg, changed map[string]bool) map[string]int {
	distance := map[string]int{}
	for path := range changed {
		distance[path] = 0
	}
	for n := 0; ; n++ {
		var found []string
		for _, p := range all {
			if _, known := distance[p.ImportPath]; known {
				continue
			}
			for _, i := range p.Imports {
				if d, ok := distance[i]; ok && d == n {
					found = append(found, p.ImportPath)
					break
				}
			}
		}
		if len(found) == 0 {
			return distance
		}
		for _, path := range found {
			distance[path] = n + 1
		}
	}
}

func excepted(path string, except []string) bool {
	for _, e := range except {
		if e != "" && strings.Contains(path+"/", e) {
			return true
		}
	}
	return false
}

// batches splits the packages into runs of go test: a package with many tests runs alone, small ones run together.
func batches(all []pkg, most int, size int64) [][]pkg {
	var cut [][]pkg
	var sum int64
	for i, p := range all {
		if n := len(cut) - 1; i > 1 && len(cut[n]) < most && sum+p.size <= size {
			cut[n] = append(cut[n], p)
			sum += p.size
			continue
		}
		cut = append(cut, []pkg{p})
		sum = p.size
	}
	return cut
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// tally counts tests, without subtests.
type tally struct{ passed, failed, skipped int }

// event is a line of go test -json: see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a build
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// goTest runs go test with args in dir, at a tier. Its error has the output of the failed tests.
func (r *run) goTest(dir, tier string, args ...string) error {
	return r.goTestIn(dir, []string{"ACTORNODE_TESTS=" + tier}, args...)
}

func (r *run) goTestIn(dir string, env []string, args ...string) error {
	read, write := io.Pipe()
	c := &collector{run: r, output: map[string]*strings.Builder{}}
	read2 := make(chan error, 1)
	go func() { read2 <- c.read(read) }() // ends with its input, which is closed below
	err := r.start(dir, env, write, "go", append([]string{"test", "-json", "-timeout=30m"}, args...)...)
	write.Close()
	if readErr := <-read2; err == nil {
		err = readErr
	}
	if len(c.failures) > 0 {
		return fmt.Errorf("failed: %s\n%s", strings.Join(c.names, ", "), strings.Join(c.failures, "\n"))
	}
	if err != nil {
		return fmt.Errorf("go test: %w\n%s", err, lastLines(c.other.String(), 40))
	}
	return nil
}

// collector reads the events of one go test.
type collector struct {
	run      *run
	output   map[string]*strings.Builder // by package and test, while it runs
	other    strings.Builder             // lines that are not events, and output of builds
	names    []string                    // of tests that have failed
	failures []string                    // their output
}

func (c *collector) read(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var e event
		if json.Unmarshal(s.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(&c.other, s.Text())
			fmt.Fprintln(c.run.log, s.Text())
			continue
		}
		c.event(e)
	}
	_, err := io.Copy(io.Discard, r) // a line that is too long does not block the writer
	return err
}

func (c *collector) event(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		c.other.WriteString(e.Output)
		fmt.Fprint(c.run.log, e.Output)
	case "output":
		fmt.Fprint(c.run.log, e.Output)
		if c.output[key] == nil {
			c.output[key] = &strings.Builder{}
		}
		c.output[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		c.ended(e, c.output[key])
		delete(c.output, key)
	}
}

// ended counts the end of a test or a package.
func (c *collector) ended(e event, output *strings.Builder) {
	text := ""
	if output != nil {
		text = output.String()
	}
	t := &c.run.tests
	if e.Test == "" { // a package
		if e.Elapsed > 0 {
			c.run.seconds[short(e.Package)] += e.Elapsed
		}
		if e.Action == "fail" {
			c.fail(e.Package, text, e.FailedBuild != "")
		}
		return
	}
	if e.Action == "skip" {
		c.run.left[reason(text)]++
	}
	if e.Action == "fail" {
		c.fail(e.Package+" "+e.Test, text, false)
	}
	if strings.Contains(e.Test, "/") {
		return
	}
	switch e.Action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
	case "skip":
		t.skipped++
	}
}

// fail records a failure. The failure of a package counts only if none of its tests has failed: it did not compile, or it
// crashed, and then the output of its tests tells why.
func (c *collector) fail(name, text string, build bool) {
	if i := strings.IndexByte(name, ' '); i < 0 {
		if slices.ContainsFunc(c.names, func(n string) bool { return strings.HasPrefix(n, name+" ") }) {
			return
		}
		c.run.tests.failed++
		if build {
			text = c.other.String()
		}
		for key, b := range c.output {
			if strings.HasPrefix(key, name+" ") {
				text += b.String()
			}
		}
	}
	c.names = append(c.names, name)
	c.failures = append(c.failures, fmt.Sprintf("--- %s\n%s", name, lastLines(text, 200)))
}

// skipped matches the reason of a skipped test in the output of testkit.From and testkit.Program.
var skipped = regexp.MustCompile(`(left to make \w+|not installed): (.*)`)

func reason(output string) string {
	if m := skipped.FindStringSubmatch(output); m != nil {
		return m[1] + ": " + strings.TrimSpace(m[2])
	}
	return "other"
}

// leftOut describes in one line the tests left out, and the target that runs them.
func (r *run) leftOut() string {
	groups := map[string][]string{}
	for _, why := range slices.Sorted(maps.Keys(r.left)) {
		kind, what, ok := strings.Cut(why, ": ")
		if !ok {
			kind, what = "not installed", why
		}
		if why == "other" {
			kind, what = "for other reasons", "see -v"
		}
		groups[kind] = append(groups[kind], fmt.Sprintf("%s (%d)", what, r.left[why]))
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		said := kind
		if kind == "not installed" {
			said += " (make tools)"
		}
		parts = append(parts, said+": "+strings.Join(groups[kind], ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Left out: " + strings.Join(parts, "; ") + "."
}

// short is the path of a package without that of the module.
func short(path string) string {
	if s, ok := strings.CutPrefix(path, "github.com/actornode/actornode/"); ok {
		return s
	}
	return "."
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The tiers of tests: those of make test, and those of make merge.
const (
	tierTest  = "test"
	tierMerge = "merge"
)

// A result is the result for one fault.
type result struct {
	Fault   string  `json:"fault"`
	Breaks  string  `json:"breaks"`
	Tier    string  `json:"tier,omitempty"` // of the test that caught it; empty if none did
	Package string  `json:"package,omitempty"`
	Test    string  `json:"test,omitempty"`
	Seconds float64 `json:"seconds"` // until it was caught, including compilation
	Error   string  `json:"error,omitempty"`
	Text    string  `json:"text"` // of the fault

	// Packages is the number of packages whose tests ran, if the fault was not caught.
	Packages int `json:"packages,omitempty"`
}

// caught describes the result in one line.
func (r result) caught() string {
	switch {
	case r.Error != "":
		return "error: " + r.Error
	case r.Tier == "":
		return fmt.Sprintf("not caught by %d packages", r.Packages)
	}
	return strings.TrimPrefix(r.Package, module) + " " + r.Test
}

const module = "github.com/actornode/actornode/"

// readResults reads the file of results, which need not exist.
func readResults(path string) (map[string]result, error) {
	all := map[string]result{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}

func writeResults(path string, all map[string]result) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// summary counts the results. good is true if each fault was caught.
func summary(list []result) (line string, good bool) {
	var quick, merge, none, wrong int
	for _, r := range list {
		switch {
		case r.Error != "":
			wrong++
		case r.Tier == tierTest:
			quick++
		case r.Tier == tierMerge:
			merge++
		default:
			none++
		}
	}
	line = fmt.Sprintf("%d faults: %d caught by make test, %d by make merge, %d not caught", len(list), quick, merge, none)
	if wrong > 0 {
		line += fmt.Sprintf(", %d with errors", wrong)
	}
	return line, none+wrong == 0
}

// plain formats the results as a text to keep next to the faults.
func plain(list []result) string {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%-32s %s\n", r.Fault, r.caught())
	}
	return b.String()
}

const (
	begin = "<!-- faults: begin -->"
	end   = "<!-- faults: end -->"
)

// table writes the results between the two markers of a Markdown text.
func table(text string, list []result) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the file needs the lines %s and %s", begin, end)
	}
	var b strings.Builder
	b.WriteString("\n| fault | what it breaks | tier | caught by |\n|---|---|---|---|\n")
	for _, r := range list {
		tier, by := "`make "+r.Tier+"`", "`"+r.Test+"` in `"+strings.TrimPrefix(r.Package, module)+"`"
		if r.Tier == "" {
			tier, by = "", r.caught()
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Fault, cell(r.Breaks), tier, cell(by))
	}
	return before + begin + b.String() + end + after, nil
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

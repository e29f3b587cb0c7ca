// Package markdown parses the repository's documents for tests: code blocks, headings, links and inline code. It supports
// only the Markdown used there: fenced blocks, headings with #, links on one line.
//
// A block may have notes: the comments <!-- … --> directly before it.
package markdown

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Document is one file.
type Document struct {
	Path    string // relative to the root of the repository, with slashes
	Blocks  []Block
	Anchors map[string]bool // of headings, as on GitHub, without #
	Links   []Link
	Codes   []Code
	Lines   int
}

// Block is a fenced block of code.
type Block struct {
	Line  int    // of its first line of code, from 1
	Lang  string // the text after the fence: go, console, yaml, …
	Notes []string
	Text  string // with a line feed at the end of each line
}

// Link is a link or an image.
type Link struct {
	Line   int
	Target string
}

// Code is inline code between backticks.
type Code struct {
	Line int
	Text string
}

// Note returns the text after "name:" in the notes of a block, one string for each note of that name.
func (b Block) Note(name string) (all []string) {
	for _, n := range b.Notes {
		if rest, ok := strings.CutPrefix(n, name+":"); ok {
			all = append(all, strings.TrimSpace(rest))
		}
	}
	return all
}

// Has reports whether one of the block's notes equals note.
func (b Block) Has(note string) bool { return slices.Contains(b.Notes, note) }

// Find reads all documents of the repository at root: the files *.md there, and those under docs, in alphabetical order.
func Find(root string) ([]*Document, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []*Document
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return nil, err
		}
		all = append(all, Parse(filepath.ToSlash(name), string(text)))
	}
	slices.SortFunc(all, func(a, b *Document) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`([^`]+)`")
	comment = regexp.MustCompile(`^<!--\s*(.*?)\s*-->$`)
)

// Parse reads the text of a document.
func Parse(path, text string) *Document {
	d := &Document{Path: path, Anchors: make(map[string]bool)}
	var notes []string
	var b *Block
	fence := ""
	for line := range strings.Lines(text) {
		d.Lines++
		bare := strings.TrimSpace(line)
		switch {
		case b != nil && bare == fence:
			d.Blocks, b = append(d.Blocks, *b), nil
		case b != nil:
			b.Text += line
		case strings.HasPrefix(bare, "```"):
			lang := strings.TrimLeft(bare, "`")
			fence = bare[:len(bare)-len(lang)]
			b = &Block{Line: d.Lines + 1, Lang: lang, Notes: notes}
			notes = nil
		case comment.MatchString(bare):
			notes = append(notes, comment.FindStringSubmatch(bare)[1])
		case bare == "":
		default:
			notes = nil
			d.line(line)
		}
	}
	return d
}

// line parses a line outside of blocks.
func (d *Document) line(line string) {
	if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
		d.anchor(title)
	}
	for _, m := range code.FindAllStringSubmatch(line, -1) {
		d.Codes = append(d.Codes, Code{d.Lines, m[1]})
	}
	for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
		d.Links = append(d.Links, Link{d.Lines, m[1]})
	}
}

// anchor adds the anchor that GitHub generates for a heading.
func (d *Document) anchor(title string) {
	title = link.ReplaceAllStringFunc(title, func(l string) string { return l[1:strings.Index(l, "]")] })
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(title))
	for unique, n := name, 1; ; n++ {
		if !d.Anchors[unique] {
			d.Anchors[unique] = true
			return
		}
		unique = name + "-" + string(rune('0'+n))
	}
}

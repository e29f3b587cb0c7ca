package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/command"
)

// file is a file of an archive or a package: its path there, its mode and its content.
type file struct {
	path string
	mode os.FileMode
	data []byte
}

// Directories of the documents in archives.
const (
	manualFolder     = "man"
	completionFolder = "completions"
)

// documents returns the files of archives other than the binary.
func (r release) documents() ([]file, error) {
	var all []file
	for path, from := range map[string]string{
		"LICENSE": "LICENSE", "THIRD_PARTY_LICENSES.md": "THIRD_PARTY_LICENSES.md", "README.md": "README.md",
		"CHANGELOG.md": "CHANGELOG.md", "actornode.yaml": "deploy/samples/actornode.yaml",
		"actornode.service": "deploy/systemd/actornode.service",
	} {
		data, err := os.ReadFile(filepath.Join(r.source, from))
		if err != nil {
			return nil, err
		}
		all = append(all, file{path, 0o644, data})
	}
	root := command.Commands(command.Program{})
	for name, page := range manual(root, r.plain(), r.time) {
		all = append(all, file{manualFolder + "/" + name, 0o644, page})
	}
	scripts, err := completions(root)
	if err != nil {
		return nil, err
	}
	for name, script := range scripts {
		all = append(all, file{completionFolder + "/" + name, 0o644, script})
	}
	sortFiles(all)
	return all, nil
}

// sortFiles sorts by path.
func sortFiles(all []file) {
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.path, b.path) })
}

// completions returns the completion scripts of shells for the commands of root, by the file names that the shells expect.
func completions(root *cobra.Command) (map[string][]byte, error) {
	all := make(map[string][]byte)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"actornode.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_actornode":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"actornode.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
		"actornode.ps1":  func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, err
		}
		all[name] = b.Bytes()
	}
	return all, nil
}

// compress compresses data with gzip, without name and time.
func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// format is a kind of package: the differences between package managers.
type format struct {
	name       string // of nfpm, and of the directory with the scripts
	packager   nfpm.Packager
	scripts    nfpm.Scripts // paths in the directory of this module
	depends    []string
	zsh        string // directory of completions for zsh
	licence    string // path of the licence text
	compresses bool   // documents are compressed, as Debian's policy requires
}

var formats = []format{
	{
		name: "deb", packager: deb.Default, depends: []string{"passwd"},
		scripts: nfpm.Scripts{PostInstall: "deb/postinst", PreRemove: "deb/prerm", PostRemove: "deb/postrm"},
		zsh:     "/usr/share/zsh/vendor-completions", licence: "/usr/share/doc/actornode/copyright", compresses: true,
	},
	{
		name: "rpm", packager: rpm.DefaultRPM, depends: []string{"/usr/sbin/useradd", "/usr/sbin/groupadd"},
		scripts: nfpm.Scripts{PostInstall: "rpm/post", PreRemove: "rpm/preun", PostRemove: "rpm/postun"},
		zsh:     "/usr/share/zsh/site-functions", licence: "/usr/share/licenses/actornode/LICENSE",
	},
}

const (
	maintainer  = "actornode maintainers <actornode@users.noreply.github.com>"
	summary     = "node of an Erlang cluster, in Go"
	description = summary + `
OTP nodes connect to it as to one of their own. The same program looks into
nodes and controls them. The package has the daemon as a service of systemd,
which is neither enabled nor started, its manual and completions for shells.`
)

// packages writes the packages of a Linux target.
func (r release) packages(t target, binary []byte, docs []file, to string) error {
	for _, f := range formats {
		if err := r.pack(f, t, binary, docs, to); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// pack writes one package.
func (r release) pack(f format, t target, binary []byte, docs []file, to string) error {
	content, err := r.contents(f, binary, docs)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp("", "release-") // nfpm reads files
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	version, before, more := r.parts()
	info := &nfpm.Info{
		Name: "actornode", Arch: t.goarch, Platform: t.goos, Version: version, Prerelease: before, VersionMetadata: more,
		VersionSchema: "none", Section: "net", Priority: "optional", Maintainer: maintainer, Vendor: "actornode",
		Homepage: home, License: ownLicence, Description: description, MTime: r.time, DisableGlobbing: true,
	}
	if f.name == "rpm" {
		info.Release = "1" // of the package; Debian's has none, since the package is made by the project
	}
	info.Umask = 0o022
	info.Depends, info.Scripts = f.depends, f.scripts
	info.RPM = nfpm.RPM{BuildHost: "localhost", Summary: summary, Packager: maintainer, Group: "System Environment/Daemons"}
	for i, c := range content {
		source := filepath.Join(stage, fmt.Sprint(i))
		if err := os.WriteFile(source, c.data, 0o600); err != nil {
			return err
		}
		entry := &files.Content{Source: source, Destination: c.path,
			FileInfo: &files.ContentFileInfo{Mode: c.mode, MTime: r.time, Owner: "root", Group: "root"}}
		if strings.HasPrefix(c.path, "/etc/") {
			entry.Type = files.TypeConfigNoReplace
		}
		info.Contents = append(info.Contents, entry)
	}
	for _, path := range folders(content) {
		info.Contents = append(info.Contents, &files.Content{Destination: path, Type: files.TypeDir,
			FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time, Owner: "root", Group: "root"}})
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, f.name); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.packager.Package(info, &b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, f.packager.ConventionalFileName(info)), b.Bytes(), 0o644)
}

// folders returns the directories owned by the package: without an entry rpm would leave them behind, empty.
func folders(content []file) (all []string) {
	for _, c := range content {
		for dir := filepath.Dir(c.path); dir != "/"; dir = filepath.Dir(dir) {
			if slices.Contains(strings.Split(dir, "/"), "actornode") && !slices.Contains(all, dir) {
				all = append(all, dir)
			}
		}
	}
	return all
}

// contents returns the files of a package.
func (r release) contents(f format, binary []byte, docs []file) ([]file, error) {
	all := []file{{"/usr/bin/actornode", 0o755, binary}}
	add := func(path string, data []byte) { all = append(all, file{path, 0o644, data}) }
	document := func(name string, data []byte) error {
		if f.compresses {
			small, err := compress(data)
			if err != nil {
				return err
			}
			name, data = name+".gz", small
		}
		add("/usr/share/doc/actornode/"+name, data)
		return nil
	}
	for _, d := range docs {
		folder, name := filepath.Split(d.path)
		var err error
		switch {
		case folder == manualFolder+"/":
			var small []byte
			small, err = compress(d.data)
			add("/usr/share/man/man1/"+name+".gz", small)
		case name == "actornode.bash":
			add("/usr/share/bash-completion/completions/actornode", d.data)
		case name == "_actornode":
			add(f.zsh+"/_actornode", d.data)
		case name == "actornode.fish":
			add("/usr/share/fish/vendor_completions.d/actornode.fish", d.data)
		case name == "actornode.service":
			add("/usr/lib/systemd/system/actornode.service", d.data)
		case name == "actornode.yaml":
			add("/usr/share/doc/actornode/examples/actornode.yaml", d.data)
		case name == "CHANGELOG.md", name == "THIRD_PARTY_LICENSES.md":
			err = document(name, d.data)
		case name == "LICENSE" && f.name == "deb":
			add(f.licence, fmt.Appendf(nil, copyright, r.time.Year()))
		case name == "LICENSE":
			add(f.licence, d.data)
		case name == "README.md", name == "actornode.ps1": // about the source, and for Windows
		default:
			err = fmt.Errorf("no place is known for %s", d.path)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.name == "deb" {
		add("/usr/share/lintian/overrides/actornode", []byte(overrides))
		small, err := compress(r.debianChangelog())
		if err != nil {
			return nil, err
		}
		add("/usr/share/doc/actornode/changelog.gz", small)
	}
	settings, err := os.ReadFile(filepath.Join(r.source, "deploy/release/actornode.yaml"))
	if err != nil {
		return nil, err
	}
	add("/etc/actornode/actornode.yaml", settings)
	sortFiles(all)
	return all, nil
}

// copyright is the file required by Debian's policy, 12.5.
const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: actornode
Source: ` + home + `
Comment: The program has modules of others in it: their licences are in THIRD_PARTY_LICENSES.md.gz beside this file.

Files: *
Copyright: %d the authors of actornode
License: Apache-2.0
 Licensed under the Apache License, Version 2.0. On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.
`

// overrides silences lintian where the package deviates on purpose.
const overrides = `# Programs of Go are linked statically.
actornode: statically-linked-binary [usr/bin/actornode]
`

// debianChangelog returns the file required by Debian's policy, 12.7.
func (r release) debianChangelog() []byte {
	version, before, more := r.parts()
	if before != "" {
		version += "~" + before
	}
	if more != "" {
		version += "+" + more
	}
	return fmt.Appendf(nil, "actornode (%s) unstable; urgency=medium\n\n"+
		"  * Commit %s.\n    CHANGELOG.md has what is new.\n\n -- %s  %s\n",
		version, r.commit, maintainer, r.time.Format(time.RFC1123Z))
}

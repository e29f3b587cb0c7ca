package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// ownLicence is the licence of this project.
const ownLicence = "Apache-2.0"

// home is the URL of the project.
const home = "https://github.com/actornode/actornode"

// bill writes the SBOM of a binary: the modules in its build information, with the licences of THIRD_PARTY_LICENSES.md.
func (r release) bill(t target, binary, to string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	licences, err := readLicences(filepath.Join(r.source, "THIRD_PARTY_LICENSES.md"))
	if err != nil {
		return err
	}
	own := component(cdx.ComponentTypeApplication, info.Main.Path, r.version, ownLicence)
	own.Description = "A node of an Erlang cluster, in Go: the program for " + t.String()
	own.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(code))}}
	own.ExternalReferences = &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: home, Comment: "commit " + r.commit}}
	own.Properties = &[]cdx.Property{{Name: "actornode:target", Value: t.String()}, {Name: "actornode:commit", Value: r.commit}}

	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause")}
	for _, d := range info.Deps {
		sum := d.Sum
		if d.Replace != nil {
			return fmt.Errorf("%s is replaced by %s: a release has what its go.mod names", d.Path, d.Replace.Path)
		}
		licence, ok := licences[d.Path+" "+d.Version]
		if !ok {
			return fmt.Errorf("THIRD_PARTY_LICENSES.md has no row for %s %s: go test . -run TestLicences -update", d.Path, d.Version)
		}
		c := component(cdx.ComponentTypeLibrary, d.Path, d.Version, licence)
		c.Properties = &[]cdx.Property{{Name: "cdx:golang:module:sum", Value: sum}} // of go.sum: not a hash of one file
		parts = append(parts, c)
	}
	uses := make([]string, len(parts))
	for i, c := range parts {
		uses[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(home+"@"+r.version+"?"+t.String()+"&"+r.commit)).URN()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &own}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: own.BOMRef, Dependencies: &uses}}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, r.name(t)+".cdx.json"), b.Bytes(), 0o644)
}

// component returns the SBOM entry of a module, named by its package URL.
func component(kind cdx.ComponentType, path, version, licence string) cdx.Component {
	ref := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{BOMRef: ref, Type: kind, Name: path, Version: version, PackageURL: ref,
		Licenses: &cdx.Licenses{{Expression: licence}}}
}

// row matches a row of the table of modules: path, version, licence.
var row = regexp.MustCompile(`(?m)^\| ([a-z][^ |]*/[^ |]*) \| (v[^ |]+) \| ([^|]+) \|$`)

// readLicences returns the licences of modules, SPDX expressions, by path and version.
func readLicences(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		all[m[1]+" "+m[2]] = m[3]
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no table of modules", path)
	}
	return all, nil
}

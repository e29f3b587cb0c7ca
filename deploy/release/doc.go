// Release builds the published files of a version with one command: make release.
//
//	cd deploy/release && go run . -out ../../dist
//	cd deploy/release && go run . -out /tmp/try -targets linux/amd64 -profile=false
//
// It is a separate module, so that programs which import actornode do not depend on the packaging libraries.
//
// # Nouns
//
//   - A target is an operating system and an architecture. Its binary is static and built without cgo.
//   - An archive contains the binary of a target and its documents: .tar.gz, and .zip for Windows.
//   - A package is a .deb or an .rpm for a Linux target. The directories deb and rpm contain the scripts run by the package
//     managers.
//   - A manual is a set of pages for man(1), one for each command; completions are loaded by shells. Both are generated
//     from the commands of the program itself.
//   - The SBOM (software bill of materials, CycloneDX 1.6) of a target lists each module linked into its binary, with
//     version, checksum and licence.
//
// # What is in the folder
//
//	actornode_VERSION_OS_ARCH.tar.gz   binary, documents, manual, completions; .zip for Windows
//	actornode_VERSION_ARCH.deb         package of Debian
//	actornode-VERSION-1.ARCH.rpm       package of Fedora, RHEL, SUSE
//	actornode_VERSION_OS_ARCH.cdx.json SBOM
//	SHA256SUMS                         checksums of all these: sha256sum --check SHA256SUMS
//
// # Invariants
//
//  1. The same commit and the same version of Go produce the same bytes, on any machine and in any directory. All
//     timestamps are that of the commit; the files contain no paths, names, users or variables of the machine.
//  2. Uncommitted changes make no release: the version then ends in +modified.
//  3. The output directory gets all files or does not change: they are built next to it, and it is replaced at the end. A
//     directory that is not empty and has no SHA256SUMS is not replaced.
//
// # Versions
//
// The version is that of -version, else the tag vX.Y.Z of the commit, else a pseudo-version like those of the go command:
// v0.0.0-TIME-COMMIT. Packages mark a pre-release with a tilde, 0.0.0~TIME.COMMIT, so that any release is newer.
//
// # Goroutines
//
// The program starts none: the go command uses all processors by itself.
package main

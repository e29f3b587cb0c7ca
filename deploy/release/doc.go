// Release makes what is published of a version, by one command: make release.
//
//	cd deploy/release && go run . -out ../../dist
//	cd deploy/release && go run . -out /tmp/try -targets linux/amd64 -profile=false
//
// It is a module of its own, so that a program that imports actornode needs none of the libraries that make packages.
//
// # Nouns
//
//   - A target is an operating system and an architecture. Its binary is static and made without cgo.
//   - An archive has the binary of a target and its documents: .tar.gz, and .zip for Windows.
//   - A package is a .deb or an .rpm for a target with Linux. deb and rpm have the scripts that the package managers run.
//   - A manual is the pages of man(1), one for each command; completions are what shells load. Both come from the table of
//     commands of the program itself.
//   - The SBOM (software bill of materials, CycloneDX 1.6) of a target names each module that is linked into its binary, with
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
//  1. The same commit and the same version of Go give the same bytes, on any machine and in any folder. All times are that of the
//     commit; paths of the machine, its name, its users and its variables are not in the files.
//  2. What is not committed makes no release: the version ends in +modified then.
//  3. The folder has all files or does not change: they are made beside it, and it is replaced at the end. A folder that
//     is not empty and has no SHA256SUMS is not replaced.
//
// # Versions
//
// The version is that of -version, else the tag vX.Y.Z of the commit, else a pseudo-version as the go command makes them:
// v0.0.0-TIME-COMMIT. Packages write what comes before a release with a tilde, 0.0.0~TIME.COMMIT, so that any release is newer.
//
// # Goroutines
//
// The program starts none: the go command uses all processors by itself.
package main

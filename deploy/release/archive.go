package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// name is the base name of a target's files, without an extension.
func (r release) name(t target) string {
	return fmt.Sprintf("actornode_%s_%s_%s", r.plain(), t.goos, t.goarch)
}

// archive writes the files of a target into an archive: a .tar.gz, or a .zip for Windows. All are in a directory with the
// archive's name.
func (r release) archive(t target, files []file, to string) error {
	write, extension := r.tarball, ".tar.gz"
	if t.goos == "windows" {
		write, extension = r.zip, ".zip"
	}
	data, err := write(r.name(t), files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, r.name(t)+extension), data, 0o644)
}

func (r release) tarball(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.path, Mode: int64(f.mode), Size: int64(len(f.data)),
			ModTime: r.time, Uname: "root", Gname: "root", Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compress(b.Bytes())
}

func (r release) zip(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.BestCompression)
	})
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.path, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeSums writes the checksums of all files of a directory, in the format of sha256sum.
func writeSums(folder string) error {
	found, err := os.ReadDir(folder) // sorted
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, f := range found {
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(folder, sums), b.Bytes(), 0o644)
}

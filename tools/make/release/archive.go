package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// packed is a file on its way into an archive. All that an archive says of it is
// here, so that nothing of this machine gets in.
type packed struct {
	name   string // in the archive
	source string
	mode   fs.FileMode
}

func tarred(files []packed, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, file := range files {
		content, err := os.ReadFile(file.source)
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.name, Size: int64(len(content)), Mode: int64(file.mode), ModTime: at}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), compressed.Close())
	return out.Bytes(), err
}

func zipped(files []packed, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range files {
		content, err := os.ReadFile(file.source)
		if err != nil {
			return nil, err
		}
		header := &zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: at}
		header.SetMode(file.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(entry, bytes.NewReader(content)); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

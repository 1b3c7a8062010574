package plural

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificates is a certificate that is read again when its files change.
type certificates struct {
	certFile, keyFile string
	log               *slog.Logger

	mutex   sync.Mutex // of the rest
	current *tls.Certificate
	files   [2]time.Time // when they were changed last
	looked  time.Time
}

// certificateCheckInterval is how often the files are checked for changes.
const certificateCheckInterval = time.Second

func newCertificates(certFile, keyFile string, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("the certificate for TLS: %w", err)
	}
	return c, nil
}

// config offers HTTP/2 and HTTP/1.1.
func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.latest(), nil },
	}
}

func (c *certificates) changed() (times [2]time.Time) {
	for i, file := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(file); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

func (c *certificates) load() error {
	files := c.changed()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.current, c.files = &pair, files
	}
	return err
}

// latest returns the certificate of the files. While they are being replaced they may not fit
// together, and the previous one remains in use.
func (c *certificates) latest() *tls.Certificate {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= certificateCheckInterval {
		c.looked = now
		if c.changed() != c.files {
			if err := c.load(); err != nil {
				c.log.Warn("the new certificate cannot be used; the old one remains in use", "error", err)
			} else {
				c.log.Info("the certificate was read again")
			}
		}
	}
	return c.current
}

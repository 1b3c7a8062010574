package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Made is an OpenAPI document for one kind of caller.
type Made struct {
	Body []byte
	Mark string // differs between documents
}

// Cache keeps the documents, one for each kind of caller, each version of the interface, and each prefix under which a
// program mounts the server.
type Cache struct {
	mutex sync.Mutex
	all   map[string]*Made
	size  int // of all bodies
}

// maxDocuments bounds the bytes in the cache, as there can be many prefixes. One document is
// always cached.
const maxDocuments = 64 << 20

// Of returns a document from the cache, or makes it.
func (c *Cache) Of(name string, make func() []byte) *Made {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.all == nil {
		c.all = map[string]*Made{}
	}
	if found := c.all[name]; found != nil {
		return found
	}
	body := make()
	if c.size += len(body); c.size > maxDocuments {
		clear(c.all)
		c.size = len(body)
	}
	sum := sha256.Sum256(body)
	c.all[name] = &Made{Body: body, Mark: hex.EncodeToString(sum[:12])}
	return c.all[name]
}

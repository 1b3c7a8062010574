package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// client is one connection over which requests are sent one after the other. It
// does as little as can be done with HTTP/1.1, so that the core it runs on stays ahead
// of the server's.
type client struct {
	conn   net.Conn
	static bool // the server answers by length: see serveBare
	out    []byte
	in     []byte
	unread []byte // of in
}

// maxAnswer is how long an answer may take.
const maxAnswer = 5 * time.Minute

func dial(address string, static bool) (*client, error) {
	conn, err := net.Dial("tcp", address)
	return &client{conn: conn, static: static, in: make([]byte, 64<<10)}, err
}

// do sends a call and checks its answer.
func (c *client) do(call *call) error {
	out := append(append(c.out[:0], call.method...), ' ')
	if c.static {
		out = strconv.AppendInt(append(out, '/'), int64(call.length), 10)
	} else {
		out = append(out, call.path...)
	}
	out = append(out, " HTTP/1.1\r\nHost: localhost\r\n"...)
	if len(call.body) > 0 {
		out = append(out, "Content-Type: application/json\r\nContent-Length: "...)
		out = append(strconv.AppendInt(out, int64(len(call.body)), 10), "\r\n"...)
	}
	c.out = append(append(out, "\r\n"...), call.body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	status, length, err := c.answer()
	if err == nil && (status != call.status || length != call.length) {
		err = fmt.Errorf("got status %d with %d bytes, want %d with %d", status, length, call.status, call.length)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	return nil
}

var (
	blankLine     = []byte("\r\n\r\n")
	lineEnd       = []byte("\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	chunked       = []byte("\r\nTransfer-Encoding: chunked\r\n")
)

// answer reads an answer, and returns its status and the length of its body.
func (c *client) answer() (status, length int, err error) {
	end := bytes.Index(c.unread, blankLine)
	for ; end < 0; end = bytes.Index(c.unread, blankLine) {
		if err := c.more(); err != nil {
			return 0, 0, err
		}
	}
	head := c.unread[:end+len(lineEnd)]
	c.unread = c.unread[end+len(blankLine):]
	const statusAt = len("HTTP/1.1 ")
	if len(head) < statusAt+3 {
		return 0, 0, fmt.Errorf("the answer begins with %q", head)
	}
	if status, err = strconv.Atoi(string(head[statusAt : statusAt+3])); err != nil {
		return 0, 0, err
	}
	if bytes.Contains(head, chunked) {
		length, err = c.chunks()
		return status, length, err
	}
	_, value, _ := bytes.Cut(head, contentLength)
	value, _, _ = bytes.Cut(value, lineEnd)
	if length, err = strconv.Atoi(string(value)); err != nil {
		return 0, 0, err
	}
	return status, length, c.skip(length)
}

// chunks reads a chunked body to its end.
func (c *client) chunks() (length int, err error) {
	for {
		end := bytes.Index(c.unread, lineEnd)
		for ; end < 0; end = bytes.Index(c.unread, lineEnd) {
			if err := c.more(); err != nil {
				return 0, err
			}
		}
		size, err := strconv.ParseInt(string(c.unread[:end]), 16, 32)
		if err != nil {
			return 0, err
		}
		if err := c.skip(end + len(lineEnd) + int(size) + len(lineEnd)); err != nil {
			return 0, err
		}
		if size == 0 {
			return length, nil
		}
		length += int(size)
	}
}

// skip reads and drops bytes.
func (c *client) skip(length int) error {
	for length > len(c.unread) {
		length -= len(c.unread)
		c.unread = nil
		if err := c.more(); err != nil {
			return err
		}
	}
	c.unread = c.unread[length:]
	return nil
}

// more reads behind what is unread.
func (c *client) more() error {
	kept := copy(c.in, c.unread)
	if kept == len(c.in) {
		return errors.New("the header of the answer does not end")
	}
	n, err := c.conn.Read(c.in[kept:])
	c.unread = c.in[:kept+n]
	return err
}

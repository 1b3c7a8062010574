package bench

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
)

// call is a request, and what its answer must be like.
type call struct {
	method string
	path   []byte
	body   []byte
	status int
	length int // of the body of the answer
}

// caller makes up the calls of one connection.
type caller struct {
	call
	rows   int
	random *rand.Rand
	serial *atomic.Int64 // of what is written, in the whole run
}

func newCaller(rows int, seed uint64, serial *atomic.Int64) *caller {
	return &caller{rows: rows, random: rand.New(rand.NewPCG(seed, seed)), serial: serial}
}

// A Workload is one kind of load.
type Workload struct {
	Name        string
	connections int           // 0: as many as the plan says
	next        func(*caller) // makes the next call
	bytes       bool          // what counts is bytes, not requests, and there is no bare server to compare with
}

// The names of workloads.
const (
	Get      = "get"
	List     = "list30"
	Filtered = "filter"
	Shallow  = "offset-0"
	Middle   = "offset-0.5"
	Deep     = "offset-0.9"
	Create1  = "create-1"
	Create8  = "create-8"
	Create64 = "create-64"
	Patch    = "patch"
	Mixed    = "mixed-90/10"
	Export   = "export"
)

// Workloads are all of them, in the order of the table.
func Workloads() []Workload {
	return []Workload{
		{Name: Get, next: (*caller).get},
		{Name: List, next: func(c *caller) { c.list("limit=30", 0, 30, false) }},
		{Name: Filtered, next: func(c *caller) { c.list("filter[active]&limit=30", 0, 60, true) }},
		{Name: Shallow, next: func(c *caller) { c.offset(0) }},
		{Name: Middle, next: func(c *caller) { c.offset(c.rows / 2) }},
		{Name: Deep, next: func(c *caller) { c.offset(min(c.rows/10*9, c.rows-30)) }},
		{Name: Create1, next: (*caller).create, connections: 1},
		{Name: Create8, next: (*caller).create, connections: 8},
		{Name: Create64, next: (*caller).create, connections: 64},
		{Name: Patch, next: (*caller).patch},
		{Name: Mixed, next: (*caller).mixed},
		{Name: Export, next: (*caller).export, connections: 1, bytes: true},
	}
}

func (c *caller) read(status, length int) {
	c.method, c.body, c.status, c.length = "GET", c.body[:0], status, length
}

func (c *caller) get() { c.getRow(c.random.IntN(c.rows)) }

func (c *caller) getRow(row int) {
	c.path = append(append(c.path[:0], "/users/"...), rowID(row)...)
	c.read(200, envelope+userLength(rowActive(row)))
}

func (c *caller) list(query string, from, to int, onlyActive bool) {
	c.path = append(append(c.path[:0], "/users?"...), query...)
	c.read(200, listLength(from, to, onlyActive))
}

func (c *caller) offset(offset int) {
	c.list("offset="+strconv.Itoa(offset)+"&limit=30", offset, offset+30, false)
}

func (c *caller) export() {
	c.path = strconv.AppendInt(append(c.path[:0], "/users?limit="...), int64(c.rows), 10)
	c.read(200, listLength(0, c.rows, false))
}

func (c *caller) create() {
	c.path = append(c.path[:0], "/users"...)
	c.body = newBody(c.body[:0], c.serial.Add(1))
	c.method, c.status, c.length = "POST", 201, envelope+userLength(false)
}

func (c *caller) patch() {
	row := c.random.IntN(c.rows)
	c.path = append(append(c.path[:0], "/users/"...), rowID(row)...)
	c.body = renameBody(c.body[:0], c.serial.Add(1))
	c.method, c.status, c.length = "PATCH", 200, envelope+userLength(rowActive(row))
}

func (c *caller) mixed() {
	if c.random.IntN(10) == 0 {
		c.create()
	} else {
		c.get()
	}
}

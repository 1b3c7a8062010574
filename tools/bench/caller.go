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
	users  int // that were loaded
	rows   int // tasks that were loaded
	random *rand.Rand
	serial *atomic.Int64 // of what is written, in the whole run
}

func newCaller(users, rows int, seed uint64, serial *atomic.Int64) *caller {
	return &caller{users: users, rows: rows, random: rand.New(rand.NewPCG(seed, seed)), serial: serial}
}

func (c *caller) read(status, length int) {
	c.method, c.body, c.status, c.length = "GET", c.body[:0], status, length
}

func (c *caller) get() { c.getRow(c.random.IntN(c.users)) }

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

// tasks asks for a page of tasks.
func (c *caller) tasks(query string) {
	c.path = append(append(append(c.path[:0], "/tasks?"...), query...), "&limit=30"...)
	c.read(200, tasksLength(listOf30))
}

func (c *caller) export() {
	c.path = strconv.AppendInt(append(c.path[:0], "/users?limit="...), int64(c.users), 10)
	c.read(200, listLength(0, c.users, false))
}

func (c *caller) create() {
	c.path = append(c.path[:0], "/users"...)
	c.body = newBody(c.body[:0], c.serial.Add(1))
	c.method, c.status, c.length = "POST", 201, envelope+userLength(false)
}

func (c *caller) patch() {
	row := c.random.IntN(c.users)
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

// anything is one of the requests of many clients.
func (c *caller) anything() {
	switch c.random.IntN(5) {
	case 0:
		c.create()
	case 1:
		c.patch()
	case 2:
		c.list("limit=30", 0, 30, false)
	case 3:
		c.tasks("filter[state]=open&sort=-priority")
	default:
		c.get()
	}
}

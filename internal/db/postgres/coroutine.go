package postgres

import (
	"iter"
	"sync"
)

// coroutine runs functions one after the other. Each may stop, and go on later. The stack of a new coroutine has to grow, which
// took a quarter of the instructions of a create, so coroutines are kept.
type coroutine struct {
	run   func()                               // the function
	next  func() (stopped, unfinished bool)    // runs it until it stops or returns
	yield func(stopped bool) (unfinished bool) // is called by the function to stop; false: it must return
	end   func()                               // ends the coroutine
}

func newCoroutine() *coroutine {
	c := &coroutine{}
	c.next, c.end = iter.Pull(func(yield func(bool) bool) {
		c.yield = yield
		for c.run(); yield(false); c.run() {
		}
	})
	return c
}

// coroutines are those that run nothing.
type coroutines struct {
	mutex sync.Mutex
	idle  []*coroutine
}

// take returns a coroutine for a function.
func (p *coroutines) take(run func()) (c *coroutine) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if last := len(p.idle) - 1; last >= 0 {
		c, p.idle = p.idle[last], p.idle[:last]
	} else {
		c = newCoroutine()
	}
	c.run = run
	return c
}

// keep keeps a coroutine whose function has returned.
func (p *coroutines) keep(c *coroutine) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	c.run = nil
	p.idle = append(p.idle, c)
}

// end ends all coroutines that run nothing.
func (p *coroutines) end() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, c := range p.idle {
		c.end()
	}
	p.idle = nil
}

package feed

import (
	"context"
	"errors"

	"github.com/plural-go/plural/internal/model"
)

// Wait waits until there may be a change for the caller after those that Later has looked at, or the
// context ends. Until EndWait it is a subscription, which changes that do not concern the caller do not
// wake, and which is limited and ends as a stream does: then Wait returns, and the caller finds out why.
func (c *Changes) Wait(ctx context.Context, quotaKey string) error {
	if c.followed == nil {
		if err := c.follow(quotaKey); err != nil {
			return err
		}
	}
	events, err := c.followed.Next(ctx)
	c.End = max(c.End, c.followed.point.Number)
	// Each entry of the log is a created resource of /changes, whatever it tells of. Any other event is a reset.
	if err == nil && events[0].Kind == Created {
		number, _ := model.ChangeNumber(c.history, events[0].ID)
		c.looked = number - 1
		return nil
	}
	if _, ok := c.followed.Bookmark(); ok && ctx.Err() != nil {
		c.End = max(c.End, c.followed.point.Number)
		c.looked = c.End
		return err
	}
	c.EndWait()
	if end := (*End)(nil); errors.As(err, &end) && end.Cause != Shutdown {
		return nil
	}
	return err // nil after a reset: what has no events any more is looked at again
}

// follow subscribes to the changes after those that are known.
func (c *Changes) follow(quotaKey string) error {
	shape := c.feed.LogShape(c.request)
	canonical := c.feed.canonical(&shape)
	s, err := c.feed.register(c.ctx, c.feed.newView(shape, canonical), string(canonical), quotaKey)
	if err != nil {
		return err
	}
	s.history, s.point.Number = c.history, c.End
	s.until = c.feed.attach(s)
	c.followed = s
	return nil
}

// EndWait must be called after the last call of Wait.
func (c *Changes) EndWait() {
	if c.followed != nil {
		c.followed.Close()
		c.followed = nil
	}
}

package query

import "github.com/plural-go/plural/problem"

// The errors of a since that is not a position. A list of changes also accepts the id of a change.
const (
	NoPosition         = "This is not a position. Send one that this server gave you, unchanged: the id of an event, or since in the link of a list with rel=\"changes\"."
	NoPositionOrChange = NoPosition + " The id of a change can be sent as well."
)

// since reads the position of a stream or a list of changes.
func (p *parser) since(given parameter) {
	switch {
	case !p.has("since"):
		p.sinceOfList(given)
	case given.value == "" && p.mode == OfStream:
		p.fail(given, problem.CodeInvalidParameter, "%s", NoPosition)
	case given.value == "":
		p.fail(given, problem.CodeInvalidParameter, "%s", NoPositionOrChange)
	default:
		p.query.Since = given.value
	}
}

// sinceOfList refuses since where the response is JSON.
func (p *parser) sinceOfList(given parameter) {
	p.fail(given, problem.CodeUnknownParameter, "The parameter since is for streams: send Accept: text/event-stream with it, or read /changes.")
}

// refuseOfOne refuses a parameter that a request for one resource does not have.
func (p *parser) refuseOfOne(given parameter) {
	if given.name == "since" {
		p.sinceOfList(given)
		return
	}
	p.fail(given, problem.CodeUnknownParameter, "A request for one resource has no parameters but include and fields. Leave this out.%s", oneHint(given.name))
}

// rangeNames are the parameters of lists that not every kind of request has.
var rangeNames = []string{"offset", "limit", "cursor", "sort"}

// refuse says why this kind of request has no such parameter.
func (p *parser) refuse(given parameter, name string) {
	text := "A stream has no range and no order: it takes filters and since. Leave out %s."
	switch {
	case p.mode == OfStream:
	case p.mode == OfGroups:
		text = "Groups are no resources, so a range of them cannot start at one. Use offset in place of %s."
	case p.mode == ofInclude:
		text = "A relation has no %s: it takes limit, sort, filter and total. Leave it out, or read the collection itself."
	case name == "offset":
		text = "Changes have no offset, as old ones are removed. Use cursor or since in place of %s."
	default:
		text = "Changes are in the order of the change log. Leave out %s."
	}
	p.fail(given, problem.CodeUnknownParameter, text, name)
}

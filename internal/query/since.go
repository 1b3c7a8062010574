package query

import "github.com/plural-go/plural/problem"

// since reads the position of a stream or a list of changes.
func (p *parser) since(given parameter) {
	switch {
	case p.mode == ofList:
		p.sinceOfList(given)
	case given.value == "":
		p.fail(given, problem.CodeInvalidParameter, "Must be a position, as in a Link with rel=\"changes\" or the id of an event, or the id of a change.")
	default:
		p.query.Since = given.value
	}
}

// sinceOfList refuses since where the response is JSON.
func (p *parser) sinceOfList(given parameter) {
	p.fail(given, problem.CodeUnknownParameter, "The parameter since is for streams: send Accept: text/event-stream with it, or read /changes.")
}

// refuses reports whether a parameter of lists cannot be given in this kind of request.
func (p *parser) refuses(name string) bool {
	switch name {
	case "offset", "sort":
		return p.mode != ofList
	case "limit", "cursor":
		return p.mode == ofStream
	}
	return false
}

func (p *parser) refuse(given parameter, name string) {
	text := "A stream has no range and no order: it takes filters and since. Leave out %s."
	switch {
	case p.mode == ofStream:
	case name == "offset":
		text = "Changes have no offset, as old ones are removed. Use cursor or since in place of %s."
	default:
		text = "Changes are in the order of the change log. Leave out %s."
	}
	p.fail(given, problem.CodeUnknownParameter, text, name)
}

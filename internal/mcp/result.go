package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/problem"
)

// Results are bounded, because an agent pays for every byte. The rest of a result has room for the other members.
const (
	maxResult = 32 << 10
	maxData   = maxResult - 1<<10

	maxDescribed = 128 << 10 // of a schema, which its operator has written

	shortText  = 200  // characters of a text that is not asked for
	longerText = 2000 // characters of a text of a resource that is too large
)

// result writes a result. Invisible characters of what is stored become escapes, so that nothing is hidden from people who read it.
func result(members ...jsonMember) []byte {
	text := object(append([]jsonMember{{"notice", jsontext.Value(quote(notice))}}, members...)...)
	return visible(text)
}

// wholeResult is a result that cannot be continued.
func wholeResult(data jsontext.Value) ([]byte, error) {
	text := result(jsonMember{"data", data})
	if len(text) > maxDescribed {
		return nil, problem.Errors{{Code: problem.CodeBodyTooLarge, Detail: "The description is too long for a result. GET / of the HTTP interface has it."}}
	}
	return text, nil
}

// oneResult is the result with one resource.
func oneResult(response *client.Response, more ...jsonMember) ([]byte, error) {
	data := dataOf(response.Body)
	if data == nil {
		return nil, errTooLarge
	}
	page, err := fit([]jsontext.Value{data}, false)
	if err != nil {
		return nil, err
	}
	members := append([]jsonMember{{"data", page.items[0]}}, more...)
	if page.shortened {
		members = append(members, jsonMember{"shortened", jsontext.Value("true")})
	}
	if etag := response.Header.Get("ETag"); etag != "" {
		members = append(members, jsonMember{"etag", jsontext.Value(quote(etag))})
	}
	return result(members...), nil
}

// page is what fits into a result.
type page struct {
	items     []jsontext.Value
	kept      int
	shortened bool // the only resource was too large
}

// result is the page as a result. Next is the cursor of what follows, empty if nothing does.
func (p page) result(response *client.Response, next string) []byte {
	members := []jsonMember{{"data", array(p.items)}}
	if total := response.Header.Get("X-Total-Count"); total != "" {
		members = append(members, jsonMember{"total", jsontext.Value(total)})
	}
	if p.shortened {
		members = append(members, jsonMember{"shortened", jsontext.Value("true")})
	}
	if next != "" {
		members = append(members, jsonMember{"truncated", jsontext.Value("true")}, jsonMember{"cursor", jsontext.Value(quote(next))})
	}
	return result(members...)
}

var errTooLarge error = problem.Errors{{Code: problem.CodeBodyTooLarge, Detail: "One resource is too large for a result. Name fewer attributes in fields, or include less."}}

// fit returns as many resources as fit into a result. Sparse ones have no nulls and no times, and long texts are shortened. If the first
// one does not fit, its texts are shortened until it does.
func fit(items []jsontext.Value, sparse bool) (page, error) {
	p, size := page{items: []jsontext.Value{}}, 0
	for _, item := range items {
		if sparse {
			item = shorten(without(item, "created_at", "updated_at"), shortText, true)
		}
		length := len(visible(item))
		for most := longerText; p.kept == 0 && length > maxData && most >= shortText; most /= 10 {
			item = shorten(item, most, false)
			length, p.shortened = len(visible(item)), true
		}
		if p.kept == 0 && length > maxData {
			return p, errTooLarge
		}
		if size += length + 1; size > maxData {
			return p, nil
		}
		p.items = append(p.items, item)
		p.kept++
	}
	return p, nil
}

// without is a JSON object without some of its members.
func without(item jsontext.Value, names ...string) jsontext.Value {
	return rewrite(item, func(depth int, name string, value jsontext.Token) bool {
		for _, each := range names {
			if depth == 1 && name == each {
				return false
			}
		}
		return true
	}, nil)
}

// shorten shortens the texts in a JSON value. A shortened text is an object, so that nobody takes it for the whole text and writes it back.
func shorten(item jsontext.Value, most int, noNulls bool) jsontext.Value {
	return rewrite(item, func(depth int, name string, value jsontext.Token) bool {
		return !noNulls || depth != 1 || value.Kind() != 'n'
	}, func(text string) jsontext.Value {
		length := utf8.RuneCountInString(text)
		if length <= most {
			return nil
		}
		return object(jsonMember{"starts_with", jsontext.Value(quote(string([]rune(text)[:most])))}, jsonMember{"characters", jsontext.Value(strconv.Itoa(length))})
	})
}

// rewrite copies a JSON value, without the members of objects that keep refuses, and with other values for texts.
func rewrite(item jsontext.Value, keep func(depth int, name string, value jsontext.Token) bool, replace func(text string) jsontext.Value) jsontext.Value {
	from := jsontext.NewDecoder(bytes.NewReader(item))
	var out bytes.Buffer
	to := jsontext.NewEncoder(&out)
	name := ""
	for {
		token, err := from.ReadToken()
		if err == io.EOF {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
		}
		if err != nil {
			return item // which no server of ours writes
		}
		parent, length := from.StackIndex(from.StackDepth())
		depth := from.StackDepth()
		if token.Kind() == '{' || token.Kind() == '[' { // the token has opened it
			depth--
			parent, length = from.StackIndex(depth)
		}
		inObject := parent == '{' && token.Kind() != '}' && token.Kind() != ']'
		switch {
		case inObject && length%2 == 1: // a name: it is written with its value
			name = token.String()
			continue
		case inObject:
			if !keep(depth, name, token) {
				if token.Kind() == '{' || token.Kind() == '[' {
					skipRest(from)
				}
				continue
			}
			_ = to.WriteToken(jsontext.String(name))
		}
		if token.Kind() == '"' && replace != nil {
			if other := replace(token.String()); other != nil {
				_ = to.WriteValue(other)
				continue
			}
		}
		_ = to.WriteToken(token)
	}
}

// skipRest skips an object or array whose first token was read.
func skipRest(from *jsontext.Decoder) {
	for depth := from.StackDepth(); from.StackDepth() >= depth; {
		if _, err := from.ReadToken(); err != nil {
			return
		}
	}
}

// itemsOf are the resources of a list. If the response was cut, next is the id of the first that is missing.
func itemsOf(response *client.Response) (items []jsontext.Value, next string, err error) {
	from := jsontext.NewDecoder(bytes.NewReader(response.Body))
	for range 3 { // {"data":[
		if _, err := from.ReadToken(); err != nil {
			return nil, "", unreadable(err)
		}
	}
	for from.PeekKind() == '{' {
		start := from.InputOffset()
		item, err := from.ReadValue()
		if err != nil {
			next = idAtStart(response.Body[start:])
			break
		}
		items = append(items, item.Clone())
	}
	if len(response.Body) >= maxResponse && next == "" && from.PeekKind() != ']' && len(items) > 0 { // cut between two
		next, items = idOf(items[len(items)-1]), items[:len(items)-1]
	}
	if len(response.Body) >= maxResponse && len(items) == 0 {
		return nil, "", errTooLarge
	}
	return items, next, nil
}

// idAtStart is the id of a resource of which only the start was read.
func idAtStart(text []byte) string {
	from := jsontext.NewDecoder(bytes.NewReader(bytes.TrimLeft(text, ", \n")))
	for range 2 {
		if _, err := from.ReadToken(); err != nil {
			return ""
		}
	}
	id, err := from.ReadToken()
	if err != nil || id.Kind() != '"' {
		return ""
	}
	return id.String()
}

// dataOf is the resource of a response, nil if it was cut.
func dataOf(body []byte) jsontext.Value {
	var envelope struct {
		Data jsontext.Value `json:"data"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return nil
	}
	return envelope.Data
}

func unreadable(err error) error {
	return fmt.Errorf("the response is not one of Plural: is the URL that of a server? (%w)", err)
}

// visible escapes invisible characters, such as those that change the direction of text or that no font has.
func visible(text []byte) []byte {
	isHidden := func(r rune) bool { return r > unicode.MaxASCII && !unicode.IsGraphic(r) }
	if !bytes.ContainsFunc(text, isHidden) {
		return text
	}
	shown := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		switch {
		case !isHidden(r):
			shown = utf8.AppendRune(shown, r)
		case r > 0xffff:
			shown = fmt.Appendf(shown, `\u%04x\u%04x`, (r-0x10000)>>10|0xd800, (r-0x10000)&0x3ff|0xdc00)
		default:
			shown = fmt.Appendf(shown, `\u%04x`, r)
		}
	}
	return shown
}

// hints are what an agent can do about errors, in words of the tools.
var hints = map[problem.Code]string{
	problem.CodePreconditionRequired: "Call get, and give its etag as if_match.",
	problem.CodePreconditionFailed:   "The resource has changed. Call get, and decide again.",
	problem.CodeUnknownCursor:        "Leave cursor out to begin at the start.",
}

// failed is the result of a call that failed.
func failed(err error) []byte {
	list, known := errors.AsType[problem.Errors](err)
	_, sent := errors.AsType[*client.Error](err)
	if !known {
		list = problem.Errors{{Code: problem.CodeUnavailable, Detail: messageOf(err)}}
	}
	items := make([]jsontext.Value, len(list))
	for i, each := range list {
		place := jsontext.Value(nil)
		if source := each.Source.String(); source != "" {
			place = jsontext.Value(quote(source))
		}
		hint := jsontext.Value(nil)
		if text := hints[each.Code]; text != "" {
			hint = jsontext.Value(quote(text))
		} else if each.Source.Parameter == "limit" && sent {
			hint = jsontext.Value(quote("The tool asks for one more than limit, to see whether there are more."))
		}
		items[i] = object(jsonMember{"code", jsontext.Value(quote(string(each.Code)))}, jsonMember{"at", place}, jsonMember{"detail", jsontext.Value(quote(each.Detail))}, jsonMember{"hint", hint})
	}
	return result(jsonMember{"errors", array(items)})
}

// messageOf is an error for an agent: without the address of the server, which is not its business.
func messageOf(err error) string {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return err.Error()
}

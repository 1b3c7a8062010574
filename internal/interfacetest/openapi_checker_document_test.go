package interfacetest

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is an OpenAPI document that exchanges are checked by.
type document struct {
	documentKind
	root    map[string]any
	prefix  string
	secured bool

	mutex      sync.Mutex // of what follows
	compiler   *jsonschema.Compiler
	schemas    map[string]*jsonschema.Schema
	operations map[string]*describedOperation
	templates  [][]string
}

// documentKind is what a document does not say of itself.
type documentKind struct {
	restricted bool // there may be more than it says
	hooked     bool // requests can be refused for reasons that nobody knows
	versioned  bool // what is stored may be sent back, although the version does not accept it
}

// documents is those that were needed before: most servers have the same.
var documents sync.Map

// openAPIFormats is the formats of OpenAPI that JSON Schema does not have.
var openAPIFormats = []*jsonschema.Format{
	{Name: "int64", Validate: func(value any) error {
		number, ok := value.(json.Number)
		whole, isNumber := new(big.Rat).SetString(number.String())
		if ok && isNumber && (!whole.IsInt() || !whole.Num().IsInt64()) {
			return errors.New("not an integer of 64 bits")
		}
		return nil
	}},
	{Name: "double", Validate: func(value any) error {
		number, ok := value.(json.Number)
		if exact, isNumber := new(big.Rat).SetString(number.String()); ok && isNumber {
			double, err := number.Float64()
			shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(double, 'g', -1, 64))
			if err != nil || shortest.Cmp(exact) != 0 {
				return errors.New("not a number that a double can hold with all its digits")
			}
		}
		return nil
	}},
}

const documentURL = "https://document.test/openapi.json"

func documentOf(text string, kind documentKind) *document {
	type key struct {
		text string
		kind documentKind
	}
	if found, ok := documents.Load(key{text, kind}); ok {
		return found.(*document)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	found, _ := documents.LoadOrStore(key{text, kind}, newDocument(value.(map[string]any), kind))
	return found.(*document)
}

func newDocument(root map[string]any, kind documentKind) *document {
	d := &document{documentKind: kind, root: root, schemas: map[string]*jsonschema.Schema{}, operations: map[string]*describedOperation{}, compiler: jsonschema.NewCompiler()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	for _, format := range openAPIFormats {
		d.compiler.RegisterFormat(format)
	}
	// What is outside of all operations has errors of any kind.
	d.at("/components/schemas")["ErrorList"] = map[string]any{
		"type": "object", "required": []any{"errors"}, "additionalProperties": false,
		"properties": map[string]any{"errors": map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"$ref": "#/components/schemas/ErrorObject"}}},
	}
	if err := d.compiler.AddResource(documentURL, root); err != nil {
		panic(err)
	}
	d.prefix = d.root["servers"].([]any)[0].(map[string]any)["url"].(string)
	_, d.secured = d.at("/components")["securitySchemes"]
	for path := range d.at("/paths") {
		d.templates = append(d.templates, strings.Split(path[1:], "/"))
	}
	return d
}

// at is the object at a pointer.
func (d *document) at(pointer string) map[string]any {
	value := any(d.root)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch container := value.(type) {
		case map[string]any:
			value = container[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(container) {
				return nil
			}
			value = container[index]
		default:
			return nil
		}
	}
	object, _ := value.(map[string]any)
	return object
}

// follow is the object at a pointer, or what it refers to, and where that is.
func (d *document) follow(pointer string) (string, map[string]any) {
	object := d.at(pointer)
	if to, ok := object["$ref"].(string); ok {
		return d.follow(strings.TrimPrefix(to, "#"))
	}
	return pointer, object
}

func escape(token string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(token) }

// schema is the JSON Schema at a pointer.
func (d *document) schema(pointer string) *jsonschema.Schema {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if found := d.schemas[pointer]; found != nil {
		return found
	}
	// A pointer in a URL is escaped once more.
	found, err := d.compiler.Compile(documentURL + "#" + (&url.URL{Path: pointer}).EscapedPath())
	if err != nil {
		panic(err)
	}
	d.schemas[pointer] = found
	return found
}

// find is the template of a path.
func (d *document) find(target *url.URL) (template string, known bool) {
	path := target.EscapedPath()
	if d.prefix != "/" {
		if path, known = strings.CutPrefix(path, d.prefix); !known {
			return "", false
		}
	}
	if path == "" {
		path = "/"
	}
	segments := strings.Split(path[1:], "/")
	for i := range segments {
		segments[i], _ = url.PathUnescape(segments[i])
	}
	for _, template := range d.templates {
		if matches(template, segments) {
			return "/" + strings.Join(template, "/"), true
		}
	}
	return "", false
}

func matches(template, segments []string) bool {
	if len(template) != len(segments) {
		return false
	}
	for i, each := range template {
		if isParameter := strings.HasPrefix(each, "{"); each != segments[i] && (!isParameter || segments[i] == "") {
			return false
		}
	}
	return true
}

// describedOperation is one operation, with what it refers to.
type describedOperation struct {
	parameters []describedParameter
	bodySchema string // pointer, empty if there is no body
	responses  map[string]*describedResponse
}

type describedParameter struct {
	name, in          string
	required, mayBare bool
	explode           bool
	schema            string         // pointer
	kind, itemKind    string         // types
	members           *regexp.Regexp // names of parameters, of an object that several stand for
}

type describedResponse struct {
	headers       map[string]*headerSchema
	media, schema string
	streams       bool // events, if they are preferred
}

type headerSchema struct {
	required     bool
	schema, kind string
}

func (op *describedOperation) response(status int) *describedResponse {
	if found := op.responses[statusText(status)]; found != nil {
		return found
	}
	return op.responses["default"]
}

func (d *document) operation(path, method string) *describedOperation {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	place := "/paths/" + escape(path) + "/" + method
	if found, ok := d.operations[place]; ok {
		return found
	}
	d.operations[place] = d.readOperation("/paths/"+escape(path), place)
	return d.operations[place]
}

func (d *document) readOperation(path, place string) *describedOperation {
	if d.at(place) == nil {
		return nil
	}
	op := &describedOperation{responses: map[string]*describedResponse{}}
	for _, each := range []string{path, place} {
		parameters, _ := d.at(each)["parameters"].([]any)
		for i := range parameters {
			pointer := each + "/parameters/" + statusText(i)
			if to, ok := parameters[i].(map[string]any)["$ref"].(string); ok {
				pointer = strings.TrimPrefix(to, "#")
				op.parameters = append(op.parameters, readParameter(pointer, d.at(pointer)))
			} else {
				op.parameters = append(op.parameters, readParameter(pointer, parameters[i].(map[string]any)))
			}
		}
	}
	if at, body := d.follow(place + "/requestBody"); body != nil && !strings.HasSuffix(place, "/query") {
		op.bodySchema = at + "/content/application~1json/schema"
	}
	op.parameters = append(op.parameters, d.readForm(place+"/requestBody/content/application~1x-www-form-urlencoded/schema")...)
	for status := range d.at(place + "/responses") {
		op.responses[status] = d.readResponse(place + "/responses/" + status)
	}
	return op
}

// readForm reads the parameters in the body of a QUERY.
func (d *document) readForm(pointer string) (parameters []describedParameter) {
	form := d.at(pointer)
	if patterns, ok := form["patternProperties"].(map[string]any); ok {
		all := slices.Sorted(maps.Keys(patterns))
		parameters = append(parameters, describedParameter{in: "query", members: regexp.MustCompile(strings.Join(all, "|"))})
	}
	properties, _ := form["properties"].(map[string]any)
	for name := range properties {
		at := pointer + "/properties/" + escape(name)
		p := readParameter(at, map[string]any{"name": name, "in": "query", "schema": properties[name]})
		p.schema, p.mayBare = at, strings.HasPrefix(name, "filter[")
		parameters = append(parameters, p)
	}
	return parameters
}

func readParameter(pointer string, object map[string]any) describedParameter {
	p := describedParameter{name: object["name"].(string), in: object["in"].(string), schema: pointer + "/schema", explode: true}
	p.required, _ = object["required"].(bool)
	p.mayBare, _ = object["allowEmptyValue"].(bool)
	if explode, ok := object["explode"].(bool); ok {
		p.explode = explode
	}
	definition := object["schema"].(map[string]any)
	p.kind, _ = definition["type"].(string)
	if members, ok := definition["patternProperties"].(map[string]any); ok {
		for pattern := range members {
			p.members = regexp.MustCompile(pattern)
		}
	}
	if items, ok := definition["items"].(map[string]any); ok {
		p.itemKind, _ = items["type"].(string)
	}
	return p
}

func (d *document) readResponse(pointer string) *describedResponse {
	at, object := d.follow(pointer)
	r := &describedResponse{headers: map[string]*headerSchema{}}
	headers, _ := object["headers"].(map[string]any)
	for name := range headers {
		place, header := d.follow(at + "/headers/" + name)
		h := &headerSchema{schema: place + "/schema"}
		h.required, _ = header["required"].(bool)
		h.kind, _ = header["schema"].(map[string]any)["type"].(string)
		r.headers[http.CanonicalHeaderKey(name)] = h
	}
	content, _ := object["content"].(map[string]any)
	_, r.streams = object["x-event-stream"]
	for media := range content {
		if media == "text/event-stream" { // of OpenAPI 3.2
			r.streams = true
			continue
		}
		r.media, r.schema = media, at+"/content/"+escape(media)+"/schema"
	}
	return r
}

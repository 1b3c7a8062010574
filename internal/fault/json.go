package fault

import (
	"bytes"
	"encoding/json"

	"github.com/plural-go/plural/problem"
)

// JSON is the errors as a client gets them: an array of error objects.
func JSON(errors problem.Errors) []byte {
	type object struct {
		Status int             `json:"status"`
		Code   problem.Code    `json:"code"`
		Title  string          `json:"title"`
		Detail string          `json:"detail"`
		Source *problem.Source `json:"source,omitempty"`
	}
	objects := make([]object, len(errors))
	for i, e := range errors {
		objects[i] = object{Status: e.Status(), Code: e.Code, Title: e.Code.Title(), Detail: e.Detail}
		if e.Source != (problem.Source{}) {
			objects[i].Source = &e.Source
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(objects) // strings and numbers cannot fail
	return bytes.TrimSpace(text.Bytes())
}

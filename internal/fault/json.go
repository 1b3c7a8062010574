package fault

import (
	"bytes"
	"encoding/json"
)

// JSON is the errors as a client gets them: an array of error objects.
func (l List) JSON() []byte {
	type source struct {
		Pointer   string `json:"pointer,omitempty"`
		Parameter string `json:"parameter,omitempty"`
		Header    string `json:"header,omitempty"`
	}
	type object struct {
		Status int     `json:"status"`
		Code   Code    `json:"code"`
		Title  string  `json:"title"`
		Detail string  `json:"detail"`
		Source *source `json:"source,omitempty"`
	}
	objects := make([]object, len(l))
	for i, e := range l {
		objects[i] = object{Status: e.Status(), Code: e.Code, Title: e.Code.Title(), Detail: e.Detail}
		if e.Source != (Source{}) {
			objects[i].Source = &source{e.Source.Pointer, e.Source.Parameter, e.Source.Header}
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(objects) // strings and numbers cannot fail
	return bytes.TrimSpace(text.Bytes())
}

// ParseList reads what JSON has written.
func ParseList(text []byte) (List, error) {
	var objects []struct {
		Code   Code
		Detail string
		Source Source
	}
	if err := json.Unmarshal(text, &objects); err != nil {
		return nil, err
	}
	list := make(List, len(objects))
	for i, object := range objects {
		list[i] = &Error{Code: object.Code, Detail: object.Detail, Source: object.Source}
	}
	return list, nil
}

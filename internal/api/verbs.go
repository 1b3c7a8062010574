package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/resource"
)

// read answers with one resource, also under its singular, or with 304 when the
// client has it already.
func (a *API) read(r *http.Request, out *response, t *target) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	found, err := a.Resources.Read(out.context(r), t.path, t.id)
	if err != nil {
		return nil, err
	}
	unchanged, err := condition.AllowsReading(found.ETag)
	if err != nil {
		return nil, err
	}
	answer := &reply{status: http.StatusNotModified, header: http.Header{}}
	if !unchanged {
		answer = enveloped(http.StatusOK, found.Representation)
	}
	answer.header["Etag"] = []string{found.ETag}
	if t.kind == singularPath {
		answer.header.Set("Content-Location", a.locate(t.path.Collection, t.id))
	}
	return answer, nil
}

// conditionOf reads the conditions of a request.
func conditionOf(r *http.Request) (resource.Condition, error) {
	return resource.ParseCondition(r.Header.Values("If-Match"), r.Header.Values("If-None-Match"))
}

// written answers with resources after they were created or changed, or as one
// last was.
func (a *API) written(write resource.Write, results []resource.Resource) *reply {
	if write.Many {
		return enveloped(http.StatusCreated, joined(results))
	}
	status := http.StatusOK
	if write.Verb == resource.Create {
		status = http.StatusCreated
	}
	answer := enveloped(status, results[0].Representation)
	if write.Verb == resource.Create {
		answer.header.Set("Location", a.locate(write.Path.Collection, results[0].ID))
	}
	if write.Verb != resource.Delete {
		answer.header.Set("ETag", results[0].ETag)
	}
	return answer
}

func joined(resources []resource.Resource) []byte {
	list := []byte{'['}
	for i, each := range resources {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, each.Representation...)
	}
	return append(list, ']')
}

package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

// read answers with one resource, also under its singular.
func (a *API) read(r *http.Request, t *target) (*reply, error) {
	found, err := a.Resources.Read(r.Context(), t.path, t.id)
	if err != nil {
		return nil, err
	}
	answer := enveloped(http.StatusOK, found.Representation)
	if t.kind == singularPath {
		answer.header.Set("Content-Location", a.locate(t.path.Collection, t.id))
	}
	return answer, nil
}

// create answers with the new resource, or with an array of them.
func (a *API) create(r *http.Request, out *response, t *target) (*reply, error) {
	inputs, many, err := a.decode(r, out, t, schema.Create)
	if err != nil {
		return nil, err
	}
	if many {
		created, err := a.Resources.CreateMany(r.Context(), t.path, inputs)
		if err != nil {
			return nil, err
		}
		return enveloped(http.StatusCreated, joined(created)), nil
	}
	created, err := a.Resources.Create(r.Context(), t.path, inputs[0])
	if err != nil {
		return nil, err
	}
	answer := enveloped(http.StatusCreated, created.Representation)
	answer.header.Set("Location", a.locate(t.path.Collection, created.ID))
	return answer, nil
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

// update replaces a resource or patches it: the mode decides what a body sets.
func (a *API) update(r *http.Request, out *response, t *target, mode schema.Mode) (*reply, error) {
	inputs, _, err := a.decode(r, out, t, mode)
	if err != nil {
		return nil, err
	}
	return changed(a.Resources.Update(r.Context(), t.path, t.id, inputs[0]))
}

func (a *API) delete(r *http.Request, t *target) (*reply, error) {
	return changed(a.Resources.Delete(r.Context(), t.path, t.id))
}

// changed answers with a resource after it was changed, or as it last was.
func changed(result resource.Resource, err error) (*reply, error) {
	if err != nil {
		return nil, err
	}
	return enveloped(http.StatusOK, result.Representation), nil
}

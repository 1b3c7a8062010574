package interfacetest

import "testing"

// TestRulesInsideObjectsAndArrays: checks and computed attributes read what is inside a stored object or array.
func TestRulesInsideObjectsAndArrays(t *testing.T) {
	withFile(t, `
collections:
  parcels:
    timestamps: false
    attributes:
      size: {type: object, properties: {width: {type: integer}, label: {type: string, maxLength: 20}}, additionalProperties: false}
      tags: {type: array, items: {type: string, maxLength: 20}}
      width: {type: integer, computed: resource.size.width * 2}
      note: {type: string, maxLength: 20}
    checks:
      - {rule: resource.size.label != null, message: It has no label., attribute: size}
      - {rule: "size(resource.tags) <= 2 && resource.tags.all(t, t != '')", message: These tags are not valid., attribute: tags}
      - {rule: previous.size.width <= resource.size.width, message: It shrinks., attribute: size}
`, func(t *testing.T, s *server) {
		at := "/parcels/" + id(1)
		s.do("POST", "/parcels", `{"id":"`+id(1)+`","tags":["a","b","c"]}`).expectDetails(t, 422, "/size: It has no label.", "/tags: These tags are not valid.")
		s.do("POST", "/parcels", `{"id":"`+id(1)+`","size":{"width":3,"label":"x"}}`).expect(t, 201, `{"data":{"id":"`+id(1)+`","type":"parcels","size":{"width":3,"label":"x"},"tags":null,"width":6,"note":null}}`)
		s.do("PATCH", at, `{"tags":["a",""]}`).expectDetails(t, 422, "/tags: These tags are not valid.")
		s.do("PATCH", at, `{"size":{"width":2,"label":"x"}}`).expectDetails(t, 422, "/size: It shrinks.")
		s.do("PATCH", at, `{"note":"n","tags":["a","b"]}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"parcels","size":{"width":3,"label":"x"},"tags":["a","b"],"width":6,"note":"n"}}`)
	})
}

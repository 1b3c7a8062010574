package interfacetest

import (
	"fmt"
	"strings"
)

// rangeRequest draws a write to a range.
func (d *drawing) rangeRequest(collection, path string) differentialRequest {
	query := d.parameters(collection)
	if query == "" && !d.odd {
		query = "?limit=3"
	}
	if d.chance("delete", 3) {
		return differentialRequest{"DELETE", path + query, "", nil}
	}
	return differentialRequest{"PATCH", path + query, d.object(collection, ""), nil}
}

// uniqueGroups are what upserts can name, of each collection.
var uniqueGroups = map[string][]string{"things": {"label", "id"}, "parts": {"text,place", "id"}}

// upsertRequest draws an upsert of one resource or of several.
func (d *drawing) upsertRequest(collection, path string) differentialRequest {
	group := d.either("group", uniqueGroups[collection], []string{"name", "nope", "", "text", "id,id"})
	item := func() string {
		id := ""
		if group == "id" || d.chance("own id", 4) {
			id = d.one("id", d.ownID(), d.id(collection))
		}
		body := d.object(collection, id)
		if !d.odd { // the values that decide must be there
			for _, name := range strings.Split(group, ",") {
				if name != "id" && !strings.Contains(body, quoted(name)+":") {
					value := map[string]string{"label": `"a"`, "text": `"t"`, "place": "1"}[name]
					body = strings.Replace(strings.Replace(body, "{", "{"+quoted(name)+":"+value+",", 1), ",}", "}", 1)
				}
			}
		}
		return body
	}
	body := item()
	if d.chance("several", 2) {
		body = "[" + d.some("items", 0, 4, ",", item) + "]"
	}
	return differentialRequest{"POST", path + "?on_conflict=" + group, body, nil}
}

// transactionRequest draws some steps.
func (d *drawing) transactionRequest() differentialRequest {
	steps := d.some("steps", 0, 5, ",", func() string {
		collection := d.one("collection", "things", "parts")
		path, item := "/"+collection, "/"+collection+"/"+d.id(collection)
		if collection == "parts" && d.chance("sub-collection", 3) {
			path = "/things/" + d.id("things") + "/parts"
		}
		var step string
		switch d.one("method", "POST", "PATCH", "PUT", "DELETE", "upsert", "POST") {
		case "POST":
			step = fmt.Sprintf(`"method":"POST","path":"%s","body":%s`, path, d.newObject(collection))
		case "upsert":
			r := d.upsertRequest(collection, path)
			step = fmt.Sprintf(`"method":"POST","path":%q,"body":%s`, r.path, r.body)
		case "PATCH":
			step = fmt.Sprintf(`"method":"PATCH","path":"%s","body":%s`, item, d.object(collection, ""))
		case "PUT":
			step = fmt.Sprintf(`"method":"PUT","path":"%s","body":%s`, item, d.object(collection, ""))
		default:
			step = fmt.Sprintf(`"method":"DELETE","path":"%s"`, item)
		}
		if d.odd && d.chance("condition", 4) {
			step += `,"if_match":` + d.one("tag", `"*"`, `"\"x\""`, `"broken"`, "1")
		}
		return "{" + step + "}"
	})
	return differentialRequest{"POST", "/-/transaction", "[" + steps + "]", nil}
}

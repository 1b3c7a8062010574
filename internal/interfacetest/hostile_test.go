package interfacetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// badRequest is a request that no server may take.
type badRequest struct {
	method, path, body string
	headers            []string
	raw                string // instead of all that
}

func (r badRequest) String() string {
	if r.raw != "" {
		return fmt.Sprintf("%.300q", r.raw)
	}
	return fmt.Sprintf("%s %s %.300q %q", r.method, r.path, r.body, r.headers)
}

// hostile makes requests that are wrong in one way at least, and random in all
// others.
type hostile struct{ *rand.Rand }

func (h hostile) one(choices ...string) string { return choices[h.IntN(len(choices))] }

// junk is random characters out of those that mean something to somebody.
func (h hostile) junk(alphabet string) string {
	characters := []rune(alphabet)
	text := make([]rune, 1+h.IntN(12))
	for i := range text {
		text[i] = characters[h.IntN(len(characters))]
	}
	return string(text)
}

func (h hostile) path() string {
	return h.one("/users", "/users/"+id(h.IntN(5)), "/posts", "/posts/"+id(h.IntN(5)), "/users/"+id(0)+"/posts", "/users/"+id(0)+"/posts/"+id(0))
}

func isItem(path string) bool { return strings.Count(path, "/")%2 == 0 }

// writing is a method that takes a body, with a path that takes the method.
func (h hostile) writing() (method, path string) {
	if path = h.path(); isItem(path) {
		return h.one("PUT", "PATCH"), path
	}
	return "POST", path
}

// request makes a bad one.
func (h hostile) request() badRequest {
	kinds := []func() badRequest{h.badMethod, h.badPath, h.badID, h.badQuery, h.badHeader, h.notJSON, h.invalid, h.conflict, h.notHTTP}
	return kinds[h.IntN(len(kinds))]()
}

func (h hostile) badMethod() badRequest {
	path := h.path()
	method := h.one("PUT", "PATCH", "DELETE", "TRACE", "CONNECTED", h.junk("ABCDEFghij")+"X")
	if isItem(path) {
		method = h.one("POST", "TRACE", "COPY", h.junk("ABCDEFghij")+"X")
	}
	return badRequest{method: method, path: path, body: h.one("", "{}", "[]")}
}

func (h hostile) badPath() badRequest {
	return badRequest{method: h.one("GET", "POST", "PUT", "PATCH", "DELETE"), path: "/x" + h.junk("abc/.~_-+@:$&'()*,;=") + "x", body: h.one("", "{}", ada)}
}

func (h hostile) badID() badRequest {
	unknown := h.one(id(100+h.IntN(1000)), h.junk("0123456789abcdef-")+"x", "{"+id(0)+"}", strings.ReplaceAll(id(0), "-", ""), "urn:uuid:"+id(0), id(0)+"0", "%00", "..")
	return badRequest{method: h.one("GET", "PUT", "PATCH", "DELETE"), path: h.one("/users/", "/posts/", "/users/"+id(1)+"/posts/") + unknown}
}

func (h hostile) badQuery() badRequest {
	bad := h.one("limit="+h.junk("abc.+e ")+"x", "offset=-1", "nope="+h.junk("abc"), "filter["+h.junk("xyz")+"q]=1", "filter[active]="+h.junk("truefals")+"x",
		"filter[id]="+h.junk("0123-"), "filter[name]["+h.junk("eqltin")+"z]=1", "sort="+h.junk("-,namei")+"q", "cursor="+id(100+h.IntN(100)), "cursor="+id(0)+"&offset=0",
		"limit=1&l=1", "filter[name]=%"+h.junk("ghij"), "filter[name]=%ff", "filter[name]=%00", "a;b", "filter[created_at]="+h.junk("0123456789-T:"))
	good := h.one("", "limit=5&", "sort=-name&", "filter[active]&", "o=1&")
	if strings.HasPrefix(bad, "limit") || strings.HasPrefix(bad, "sort") || strings.HasPrefix(bad, "cursor") {
		good = h.one("", "filter[active]&") // of what is not in it yet
	}
	query := strings.ReplaceAll(good+bad, " ", "%20")
	return badRequest{method: "GET", path: h.one("/users?", "/users/"+id(0)+"?") + query}
}

func (h hostile) badHeader() badRequest {
	method, path := h.writing()
	headers := [][]string{
		{"Content-Type", h.one("text/plain", "application/xml", h.junk("abc/;=")+"x", "application/json;charset=utf-16", "multipart/form-data")},
		{"Content-Encoding", h.one("gzip", "br", h.junk("abc"))},
		{"Accept", h.one("text/html", "image/png", "application/json;q=0", h.junk("abc/"))},
	}
	return badRequest{method: method, path: path, body: h.one(ada, `{"title":"x"}`), headers: headers[h.IntN(len(headers))]}
}

func (h hostile) notJSON() badRequest {
	method, path := h.writing()
	body := h.one(
		ada[:1+h.IntN(len(ada)-1)], // cut off
		ada+h.junk("{}[],:x1"),     // something behind it
		"}"+h.junk(`{}[]",:1x`), "\xff"+h.junk("{}"), "\ufeff{}",
		`{"name":"a","name":"`+h.junk("abc")+`"}`, `{"title":"\ud8`+h.one("00", "ff")+`"}`, "{\"title\":\"\xc3\"}",
		strings.Repeat(h.one("[", `{"a":`), 65+h.IntN(1000)))
	return badRequest{method: method, path: path, body: body}
}

func (h hostile) invalid() badRequest {
	method, path := h.writing()
	return badRequest{method: method, path: path, body: h.one(
		`{"x`+h.junk("abc")+`":1}`, `{"data":`+ada+`}`, `{"id":"`+h.junk("0123-")+`"}`, `{"type":"`+h.junk("abc")+`"}`, `{"created_at":"`+h.junk("0123")+`"}`,
		`{"name":`+h.one("1", "true", "[]", "{}", `"\u0000"`)+`,"title":`+h.one("1", "false", "[1]", `"a\u0000"`)+`}`,
		h.one("1", "null", "true", `"x"`, "-1e5"), `{"user_id":"`+id(100+h.IntN(100))+`","active":1}`, `{"published_at":"`+h.junk("0123T:Z")+`","email":"`+h.junk("ab@.")+` "}`)}
}

func (h hostile) conflict() badRequest {
	taken := id(h.IntN(5))
	return h.oneOf(
		badRequest{method: "POST", path: "/users", body: `{"id":"` + taken + `","name":"x","email":"x@example.com"}`},
		badRequest{method: "POST", path: "/posts", body: `[{},{"id":"` + taken + `"}]`},
		badRequest{method: "POST", path: "/posts", body: `[{"id":"` + id(50) + `"},{"id":"` + id(50) + `"}]`},
		badRequest{method: "POST", path: "/posts", body: `{"user_id":"` + id(100+h.IntN(100)) + `"}`},
		badRequest{method: "PATCH", path: "/posts/" + taken, body: `{"user_id":"` + id(100+h.IntN(100)) + `"}`},
		badRequest{method: "PATCH", path: "/users/" + taken, body: `{"name":null}`},
		badRequest{method: "POST", path: "/users/" + id(0) + "/posts", body: `{"user_id":"` + id(1) + `"}`},
		badRequest{method: "DELETE", path: "/users/" + taken, body: `{}`},
	)
}

func (h hostile) oneOf(requests ...badRequest) badRequest { return requests[h.IntN(len(requests))] }

func (h hostile) notHTTP() badRequest {
	return badRequest{raw: h.one(
		h.junk("\x00\x01\x16\xffabc é")+"\r\n\r\n",
		"GET /users/%"+h.junk("ghijk")+" HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"DELETE /users/"+id(0)+" HTTP/1.1\r\n\r\n",
		"DELETE /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\n"+h.junk("abc ")+" x\r\n\r\n",
		"DELETE /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\nExpect: "+h.junk("abc")+"\r\n\r\n",
		"DELETE /users/"+id(0)+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: "+h.junk("xyz")+"\r\n\r\n",
		h.junk("abc")+" "+h.junk("abc")+"\r\nHost: localhost\r\n\r\n")}
}

// TestThousandBadRequests: each gets its 4xx, and the data stays as it was.
func TestThousandBadRequests(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		s.createAll("/users", `{"id":"`+id(3)+`","name":"x","email":"x@example.com"}`, `{"id":"`+id(4)+`","name":"y","email":"y@example.com"}`)
		s.createAll("/posts", `{"id":"`+id(4)+`"}`)
		everything := func() (all string) {
			for _, path := range []string{"/", "/users?limit=1000", "/posts?limit=1000", "/users/" + id(0) + "/posts", "/users/" + id(1) + "/posts"} {
				list := s.get(path)
				all += fmt.Sprintln(path, list.status, list.total(), list.body)
			}
			return all
		}
		before := everything()
		h := hostile{rand.New(rand.NewPCG(2026, 11))}
		seen := map[int]int{}
		for n := range 1000 {
			request := h.request()
			var got answer
			if request.raw != "" {
				got = s.raw(request.raw)
			} else {
				got = s.do(request.method, request.path, request.body, request.headers...)
			}
			seen[got.status]++
			if got.status < 400 || got.status > 499 || !strings.HasPrefix(got.body, `{"errors":[`) || got.header.Get("Content-Type") != "application/json;charset=utf-8" {
				t.Errorf("request %d: %s\ngot %d %v %s", n, request, got.status, got.header, got.body)
			}
		}
		if after := everything(); after != before {
			t.Errorf("before\n%s\nafter\n%s", before, after)
		}
		for _, status := range []int{400, 404, 405, 406, 409, 415, 417, 422} {
			if seen[status] == 0 {
				t.Errorf("none of the requests was a %d: %v", status, seen)
			}
		}
	})
}

package interfacetest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestAccessCannotBeBypassed: a request that is written in an unusual way, or says by other headers what it
// means, gets nobody further than the usual one.
func TestAccessCannotBeBypassed(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		editor, ada := h.keys["editor"], h.keys["ada"]
		hidden, shown := "/posts/"+id(11), "/posts/"+id(12)
		for _, c := range []struct {
			line, headers string
			want          int
		}{
			{"GET " + hidden, "Authorization: " + editor, 200},
			{"GET " + hidden, "AUTHORIZATION: BEARER " + editor[7:], 200},
			{"GET " + hidden, "Authorization: " + ada + "\r\nAuthorization: " + editor, 401},
			{"GET " + hidden, "Authorization: " + editor + "\r\nAuthorization: " + editor, 401},
			{"GET " + hidden, "Authorization: " + ada + ", " + editor, 401},
			{"GET " + shown, "Authorization:\r\nAuthorization: " + editor, 401},
			{"GET " + shown, "Authorization:", 401},
			{"GET " + shown, "Authorization: Bearer\t" + editor[7:], 401},
			{"GET " + shown, "Authorization: " + editor[7:], 401},
			{"GET " + hidden, "Proxy-Authorization: " + editor, 404},
			{"GET " + hidden, "Cookie: Authorization=" + editor, 404},
			{"GET " + hidden + "?access_token=" + editor[7:], "X: y", 400},
			{"GET " + hidden, "Connection: Authorization\r\nAuthorization: " + ada, 404},
			{"GET http://elsewhere" + hidden, "X: y", 404},
			{"GET /%70osts/" + id(11), "X: y", 404},
			{"GET /users/../posts/" + id(11), "X: y", 404},
			{"GET " + shown, "X-Original-URL: " + hidden, 200},
			{"DELETE " + shown, "X-Forwarded-User: editor", 401},
			{"POST " + shown, "X-HTTP-Method-Override: DELETE\r\nContent-Length: 0", 405},
			{"TRACE /posts", "Authorization: " + editor, 405},
			{"GET /%2d/metrics", "X: y", 401},
			{"GET /-/health/../metrics", "X: y", 404},
		} {
			connection, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(connection, "%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", c.line, c.headers)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != c.want {
				t.Errorf("%s with %s gets %d, want %d", c.line, c.headers, response.StatusCode, c.want)
			}
			connection.Close()
		}
	})
}

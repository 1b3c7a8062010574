package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPanicsReachTheServer: a panic while a tool is called does not end the process. It reaches the goroutine of the message, where the server
// reports it.
func TestPanicsReachTheServer(t *testing.T) {
	handler := Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("out of order") }))
	r := httptest.NewRequest(http.MethodPost, "/-/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_collections"}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	defer func() {
		reason, _ := recover().(string)
		if !strings.HasPrefix(reason, "out of order\n") || !strings.Contains(reason, "TestPanicsReachTheServer") {
			t.Errorf("the reason is %q", reason)
		}
	}()
	handler.ServeHTTP(httptest.NewRecorder(), r)
	t.Error("it went on")
}

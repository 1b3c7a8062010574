package plural_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/plural-go/plural"
)

// TestOpenAPIUnderAMountPath: clients that are made from it call the server
// where they found it.
func TestOpenAPIUnderAMountPath(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Prefix: "/inner"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	mux := http.NewServeMux()
	mux.Handle("/inner/", server)
	mux.Handle("/outer/", http.StripPrefix("/outer", server))
	for path, want := range map[string]string{"/inner": "/inner", "/outer/inner": "/outer/inner"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest("GET", path+"/-/openapi.json", nil))
		var document struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil || len(document.Servers) != 1 || document.Servers[0].URL != want {
			t.Errorf("at %s: %d, %v, %v", path, answer.Code, document.Servers, err)
		}
	}
}

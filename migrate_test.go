package plural_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
)

func thingsWith(t *testing.T, attributes ...schema.Attribute) *schema.Schema {
	t.Helper()
	s, err := schema.New(schema.Collection{Name: "things", Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConfigMigrate(t *testing.T) {
	ctx := context.Background()
	config := plural.Config{
		Schema: thingsWith(t, schema.Attribute{Name: "a", Type: schema.String}), Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"),
		Logger: slog.New(slog.DiscardHandler),
	}
	opens := func(config plural.Config) error {
		server, err := plural.Open(ctx, config)
		if err == nil {
			request := httptest.NewRequest("POST", "http://localhost/things", strings.NewReader(`{"a":"x"}`))
			request.Header.Set("Content-Type", "application/json")
			server.ServeHTTP(httptest.NewRecorder(), request)
			err = server.Stop(ctx)
		}
		return err
	}
	if err := opens(config); err != nil {
		t.Fatal(err)
	}
	config.Migrate = "all"
	if err := opens(config); err == nil || err.Error() != `Migrate must be additive or off, but is "all"` {
		t.Errorf("got %v", err)
	}
	config.Schema = thingsWith(t, schema.Attribute{Name: "a", Type: schema.String}, schema.Attribute{Name: "b", Type: schema.Integer})
	config.Migrate = plural.MigrateOff
	if err := opens(config); err == nil || !strings.HasPrefix(err.Error(), "the database does not fit the schema:\n  - things: new attribute b (integer) (additive)\n") {
		t.Errorf("got %v", err)
	}
	config.Migrate = "" // the default
	if err := opens(config); err != nil {
		t.Error(err)
	}
	config.Schema = thingsWith(t, schema.Attribute{Name: "b", Type: schema.Integer})
	if err := opens(config); err == nil || !strings.HasPrefix(err.Error(), "the database does not fit the schema:\n  - things: attribute a is removed (losing)\n") {
		t.Errorf("got %v", err)
	}
	want := []admin.MigrationStep{{Class: "losing", Text: "things: attribute a is removed", Cost: "loses the values of 2 resources", Loses: true}}
	if got, err := admin.PlanMigration(ctx, config.Database, config.Schema); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := admin.Migrate(ctx, config.Database, config.Schema, admin.MigrateOptions{AllowLoss: true}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := opens(config); err != nil {
		t.Error(err)
	}
}

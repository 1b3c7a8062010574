package model_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

func TestAppend(t *testing.T) {
	id, _ := model.ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	when := model.TimeValue("2026-11-14T09:30:00.123Z")
	tests := []struct {
		name   string
		record model.Record
		want   string
	}{
		{"values", model.Record{model.IDValue(id), model.TextValue("a \"b\"\n<é>"), model.IntValue(math.MinInt64), model.FloatValue(1e-7), model.BoolValue(false), model.IDValue(model.ID{}), model.TextValue("2026-11-14"), when,
			model.TextValue("a@b"), model.TextValue("a:b"), model.TextValue(`{"b":1,"a":[]}`), model.TextValue("[1]"), when, when, model.IntValue(7)},
			`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"things","text":"a \"b\"\n<é>","integer":-9223372036854775808,"number":1e-7,"boolean":false,` +
				`"uuid":"00000000-0000-0000-0000-000000000000","date":"2026-11-14","moment":"2026-11-14T09:30:00.123Z","email":"a@b","uri":"a:b","object":{"b":1,"a":[]},"array":[1],` +
				`"created_at":"2026-11-14T09:30:00.123Z","updated_at":"2026-11-14T09:30:00.123Z"}`},
		{"nulls", model.Record{model.IDValue(id), model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, model.Null, when, when, model.IntValue(7)},
			`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"things","text":null,"integer":null,"number":null,"boolean":null,` +
				`"uuid":null,"date":null,"moment":null,"email":null,"uri":null,"object":null,"array":null,` +
				`"created_at":"2026-11-14T09:30:00.123Z","updated_at":"2026-11-14T09:30:00.123Z"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(things.Append([]byte("["), test.record)); got != "["+test.want {
				t.Errorf("got  %s\nwant [%s", got, test.want)
			}
			if got := things.Scan(test.record); !reflect.DeepEqual(got, test.record) {
				t.Errorf("scanned, it is %v", got)
			}
		})
	}
}

func TestAppendWithoutTimestamps(t *testing.T) {
	c := mustNew(model.Collection{Name: "tags", NoTimestamps: true, Attributes: []model.Attribute{{Name: "label", Type: model.String}}})
	got := string(c.Append(nil, model.Record{model.IDValue(model.ID{}), model.TextValue("x"), model.IntValue(1)}))
	if want := `{"id":"00000000-0000-0000-0000-000000000000","type":"tags","label":"x"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

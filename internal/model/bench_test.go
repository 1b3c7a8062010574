package model_test

import (
	"testing"

	"github.com/plural-go/plural/internal/model"
)

func benchmarkBody(b *testing.B) []byte {
	b.Helper()
	return []byte(`{"text":"The quick brown fox \"jumps\" over the lazy dog","integer":1234567,"number":0.125,"boolean":true,` +
		`"uuid":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","date":"2026-11-14","moment":"2026-11-14T09:30:00.123Z","email":"ada@example.com",` +
		`"uri":"https://example.com/a?b=c","object":{"a":1,"b":["x",null]},"array":[1,2,3]}`)
}

func BenchmarkAppend(b *testing.B) {
	inputs, _, err := things.Decode(benchmarkBody(b), model.DecodeOptions{Mode: model.Create, MaxDepth: 64})
	if err != nil {
		b.Fatal(err)
	}
	record := inputs[0].Values
	record[model.IDColumn] = model.IDValue(model.ID{1})
	when := model.TimeValue("2026-11-14T09:30:00.123Z")
	record[things.CreatedColumn()], record[things.UpdatedColumn()] = when, when
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = things.Append(buffer[:0], record)
	}
	b.SetBytes(int64(len(buffer)))
}

func BenchmarkDecode(b *testing.B) {
	body := benchmarkBody(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := things.Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: 64}); err != nil {
			b.Fatal(err)
		}
	}
}

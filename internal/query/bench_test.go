package query

import "testing"

func BenchmarkParse(b *testing.B) {
	for name, raw := range map[string]string{
		"empty":  "",
		"cursor": "cursor=01936f2e-7d3c-7a4b-9c5d-0123456789ab&limit=30",
		"filter": "filter[boolean]&filter[text][starts_with]=a&filter[integer][in]=1,2,3&sort=-created_at,text&limit=30",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(OfList, things, raw, limits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

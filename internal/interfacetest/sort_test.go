package interfacetest

import "testing"

func TestSort(t *testing.T) {
	ascending, descending := from(0, 7), []int{6, 5, 4, 3, 2, 1, 0}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		startSamples(s)
		// Every field that ascends with the positions, null first.
		for _, field := range []string{"text", "email", "uri", "uuid", "date", "moment", "integer", "number", "id"} {
			s.get("/samples?sort="+field).expectPositions(t, field, ascending...)
			s.get("/samples?sort=-"+field).expectPositions(t, "-"+field, descending...)
			s.get("/samples?sort="+field+"&limit=-3").expectPositions(t, field+" limit -3", 4, 5, 6)
			s.get("/samples?sort=-"+field+"&offset=1&limit=2").expectPositions(t, "-"+field+" from 1", 5, 4)
			// Cursors at and around null.
			s.get("/samples?sort="+field+"&cursor="+id(0)+"&limit=2").expectPositions(t, field+" from null", 0, 1)
			s.get("/samples?sort="+field+"&cursor="+id(1)+"&limit=-2").expectPositions(t, field+" before the first value", 0)
			s.get("/samples?sort=-"+field+"&cursor="+id(1)).expectPositions(t, "-"+field+" from the last value", 1, 0)
			s.get("/samples?sort=-"+field+"&cursor="+id(0)).expectPositions(t, "-"+field+" from null", 0)
			s.get("/samples?sort=-"+field+"&cursor="+id(0)+"&limit=-2").expectPositions(t, "-"+field+" before null", 2, 1)
		}
		for query, want := range map[string][]int{
			// Ties are broken by id, upwards, whatever the direction of the rest.
			"sort=boolean":                                            {0, 1, 2, 3, 4, 5, 6},
			"sort=-boolean":                                           {4, 5, 6, 1, 2, 3, 0},
			"sort=-boolean,-id":                                       {6, 5, 4, 3, 2, 1, 0},
			"sort=boolean,-integer":                                   {0, 3, 2, 1, 6, 5, 4},
			"sort=-boolean,number,text":                               {4, 5, 6, 1, 2, 3, 0},
			"sort=type":                                               {0, 1, 2, 3, 4, 5, 6},
			"sort=-type,-text":                                        {6, 5, 4, 3, 2, 1, 0},
			"sort=created_at,-id":                                     {6, 5, 4, 3, 2, 1, 0}, // one array, one time
			"sort=-id,text":                                           {6, 5, 4, 3, 2, 1, 0},
			"sort=-text&filter[boolean]":                              {6, 5, 4},
			"sort=created_at&sort=-id":                                {6, 5, 4, 3, 2, 1, 0},
			"sort=-boolean&sort=-integer&cursor=" + id(4):             {4, 3, 2, 1, 0},
			"sort=-boolean,integer&offset=2&limit=3":                  {6, 1, 2},
			"sort=-boolean,-integer&cursor=" + id(4):                  {4, 3, 2, 1, 0},
			"sort=-boolean,-integer&cursor=" + id(3) + "&limit=-2":    {5, 4},
			"sort=boolean,-integer&cursor=" + id(0) + "&limit=2":      {0, 3},
			"sort=boolean,-integer&cursor=" + id(2) + "&filter[text]": {2, 1, 6, 5, 4},
		} {
			s.get("/samples?"+query).expectPositions(t, query, want...)
		}
		for query, want := range map[string][]string{
			"sort=":                 {"invalid_parameter sort"},
			"sort":                  {"invalid_parameter sort"},
			"sort=-":                {"invalid_parameter sort"},
			"sort=text,":            {"invalid_parameter sort"},
			"sort=,text":            {"invalid_parameter sort"},
			"sort=nope":             {"invalid_parameter sort"},
			"sort=Text":             {"invalid_parameter sort"},
			"sort=--text":           {"invalid_parameter sort"},
			"sort=%2Btext":          {"invalid_parameter sort"},
			"sort=text%20desc":      {"invalid_parameter sort"},
			"sort=text,-text":       {"invalid_parameter sort"},
			"sort=object":           {"invalid_parameter sort"},
			"sort=-array":           {"invalid_parameter sort"},
			"sort=_revision":        {"invalid_parameter sort"},
			"sort=nope,array,text":  {"invalid_parameter sort", "invalid_parameter sort"},
			"s%6Frt=text&sort=text": {"invalid_parameter sort"},
			"sort=text&sort=nope":   {"invalid_parameter sort"},
		} {
			s.expectRefusal(t, "GET", "/samples?"+query, "", 400, want...)
		}
	})
}

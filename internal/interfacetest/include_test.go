package interfacetest

import (
	"fmt"
	"strings"
	"testing"
)

func writer(n int, boss string) string {
	return fmt.Sprintf(`{"id":"%s","type":"people","name":"P%d","boss_id":%s}`, id(n), n, boss)
}

func comment(n, stars int, of, by string) string {
	return fmt.Sprintf(`{"id":"%s","type":"comments","text":"C%d","stars":%d,"person_id":%s,"book_id":%s}`, id(n), n, stars, by, of)
}

// array is a member with representations.
func array(name string, items ...string) string {
	return `"` + name + `":[` + strings.Join(items, ",") + `]`
}

func TestInclude(t *testing.T) {
	one := func(representation string) string { return `{"data":` + representation + `}` }
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		book11 := "/books/" + id(11)
		for _, c := range []struct{ path, want string }{
			// References.
			{"/books?include=author", data(embedding(b11, `"author":`+p1), embedding(b12, `"author":`+p1), embedding(b13, `"author":null`))},
			{"/books?include=editor,author", data(embedding(b11, `"editor":`+p2, `"author":`+p1), embedding(b12, `"editor":null`, `"author":`+p1), embedding(b13, `"editor":`+p3, `"author":null`))},
			{"/books?include=editor&include=author&limit=1", data(embedding(b11, `"editor":`+p2, `"author":`+p1))},
			{book11 + "?include=author", one(embedding(b11, `"author":`+p1))},
			{"/book/" + id(13) + "?include=author", one(embedding(b13, `"author":null`))},
			{"/people/" + id(2) + "?include=boss.boss", one(embedding(p2, `"boss":`+embedding(p1, `"boss":null`)))},
			// Collections.
			{book11 + "?include=comments", one(embedding(b11, array("comments", c21, c22, c23, c24, c25)))},
			{"/books?include=comments&include[comments][limit]=2", data(embedding(b11, array("comments", c21, c22)), embedding(b12, array("comments", c26)), embedding(b13, array("comments")))},
			{"/books?include=comments&include[comments][limit]=-2&limit=2", data(embedding(b11, array("comments", c24, c25)), embedding(b12, array("comments", c26)))},
			{book11 + "?include=comments&include[comments][sort]=-stars", one(embedding(b11, array("comments", c23, c25, c22, c24, c21)))},
			{book11 + "?include=comments&include[comments][sort]=-stars&include[comments][limit]=-2", one(embedding(b11, array("comments", c24, c21)))},
			{book11 + "?include=comments&include[comments][filter][stars][gte]=2&include[comments][filter][stars][lt]=4", one(embedding(b11, array("comments", c22, c25)))},
			{"/books?include=comments&include[comments][filter][stars]=3&include[comments][limit]=0&include[comments][total]=true", data(
				embedding(b11, array("comments"), `"comments_total":1`), embedding(b12, array("comments"), `"comments_total":1`), embedding(b13, array("comments"), `"comments_total":0`))},
			{book11 + "?include=comments&include[comments][limit]=1&include[comments][total]=true", one(embedding(b11, array("comments", c21), `"comments_total":5`))},
			{book11 + "?include[comments][limit]=1&include[comments][total]=false&include=comments", one(embedding(b11, array("comments", c21)))},
			{"/people?include=reports,books&include[books][sort]=-title", data(embedding(p1, array("reports", p2), array("books", b12, b11)), embedding(p2, array("reports"), array("books")), embedding(p3, array("reports"), array("books")))},
			// Several levels.
			{"/people/" + id(1) + "?include=books.comments.person&include[books.comments][limit]=1", one(embedding(p1, array("books",
				embedding(b11, array("comments", embedding(c21, `"person":`+p1))), embedding(b12, array("comments", embedding(c26, `"person":null`))))))},
			// In a sub-collection.
			{"/books/" + id(12) + "/comments?include=book", data(embedding(c26, `"book":`+b12))},
			{"/books/" + id(12) + "/comments/" + id(26) + "?include=book,person", one(embedding(c26, `"book":`+b12, `"person":null`))},
			// With ranges, filters and an order.
			{"/books?include=author&sort=-title&limit=2", data(embedding(b13, `"author":null`), embedding(b12, `"author":`+p1))},
			{"/books?include=author&filter[price][lt]=13&limit=-1", data(embedding(b12, `"author":`+p1))},
			{"/books?include=author&cursor=" + id(12), data(embedding(b12, `"author":`+p1), embedding(b13, `"author":null`))},
			{"/books?include=author&limit=0", data()},
			{"/books?include=author&offset=7", data()},
		} {
			before := t.Failed()
			s.get(c.path).expect(t, 200, c.want)
			if !before && t.Failed() {
				t.Fatalf("first failure: GET %s", c.path)
			}
		}
	})
}

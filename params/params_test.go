package params_test

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/params"
)

const id = "0193b0a6-7a2b-7c3d-8e4f-5a6b7c8d9e0f"

type state string

// TestEncode compares query strings, in which percent-encodings are decoded, with what parameters ask for.
func TestEncode(t *testing.T) {
	half := time.Date(2026, 11, 1, 12, 0, 0, 500_000, time.FixedZone("", 3600)) // half a millisecond after noon
	one := 1
	where := params.Where
	for want, given := range map[string][]params.Param{
		"": nil,
		"filter[a][eq]=x&filter[b][ne]=1&filter[c][lt]=1.5":                              {where("a").Is("x"), where("b").Not(1), where("c").Less(1.5)},
		"filter[a][lte]=1&filter[b][gt]=true&filter[c][gte]=2":                           {where("a").AtMost(&one), where("b").More(true), where("c").AtLeast(uint8(2))},
		"filter[author.country][eq]=open":                                                {where("author.country").Is(state("open"))},
		"filter[a][contains]=x,y&filter[b][starts_with]=%":                               {where("a").Contains("x,y"), where("b").StartsWith("%")},
		"filter[a][null]=true&filter[b][null]=false":                                     {where("a").Null(), where("b").NotNull()},
		`filter[a][in]=x\,y,1`:                                                           {where("a").In("x,y", 1)},
		`filter[a][in]=c,a\&filter[a][in]=b\`:                                            {where("a").In(`a\`, `b\`, "c")},
		"filter[a][in]=x,y&filter[a][not_in]=z":                                          {where("a").In([]string{"x", "y"}), where("a").NotIn([]state{"z"})},
		"filter[a][has]=x,y&filter[a][has]=z":                                            {where("a").Has("x,y", "z")},
		`filter[a][has_all]=x\,y,z\`:                                                     {where("a").HasAll(`z\`, "x,y")},
		"filter[t][lt]=2026-11-01T11:00:00.001Z":                                         {where("t").Less(half)},
		"filter[t][lte]=2026-11-01T11:00:00.000Z":                                        {where("t").AtMost(half)},
		"filter[t][gt]=2026-11-01T11:00:00.000Z":                                         {where("t").More(half)},
		"filter[t][gte]=2026-11-01T11:00:00.001Z":                                        {where("t").AtLeast(half)},
		"filter[t][eq]=2026-11-01T11:00:00.000Z":                                         {where("t").Is(half)},
		"filter[x]=1&filter[y][eq]=2 is one name":                                        {where("x]=1&filter[y").Is("2 is one name")},
		"filter[any][0][a][eq]=1&filter[any][0][b][null]=true&filter[any][1][c][in]=1,2": {params.Any(params.And(where("a").Is(1), where("b").Null()), where("c").In(1, 2))},
		"filter[a][eq]=1&filter[b][eq]=2&search=ada lov":                                 {params.And(where("a").Is(1), where("b").Is(2), params.Search("ada lov"))},
		"filter[any][0][a][eq]=1&filter[some][0][lines.b][gte]=5&filter[some][0][lines.product.name][search]=cha&filter[some][1][lines.b][null]=true&filter[none][0][orders.a][in]=1,2": {
			params.Any(where("a").Is(1)), params.Some("lines", where("b").AtLeast(5), where("product.name").Search("cha")), params.Some("lines", where("b").Null()), params.None("orders", where("a").In(1, 2)),
		},
		"filter[some][3][lines.b]=1&filter[some][4][lines.b][eq]=2":                             {params.Raw("filter[some][3][lines.b]=1"), params.Some("lines", where("b").Is(2))},
		"filter[lines][exists]=true&filter[user.posts][exists]=false&filter[count.lines][gt]=2": {where("lines").Exists(), where("user.posts").NotExists(), where("count.lines").More(2)},
		"sort=-a,b&fields=a,b&cursor=" + id + "&limit=-5":                                       {params.Limit(-5), params.Cursor(id), params.Fields("a", "b"), params.Sort("-a", "b")},
		"offset=0&limit=9223372036854775807":                                                    {params.Offset(0), params.Limit(math.MaxInt64)},
		"since=a.b+c=":                                                                          {params.Since("a.b+c=")},
		"include=author,lines.product&include[lines.product][filter][a][eq]=1&include[lines.product][sort]=-a&include[lines.product][limit]=-3&include[lines.product][total]=true&fields[lines.product]=a": {
			params.Include("author"), params.Include("lines.product", where("a").Is(1), params.Sort("-a"), params.Limit(-3), params.WithTotal(), params.Fields("a")),
		},
		"by=state,created_at:month&sum=a&avg=b&min=c&max=d,e&sort=-count": {
			params.By("state", "created_at:month"), params.Sum("a"), params.Avg("b"), params.Min("c"), params.Max("d", "e"), params.Sort("-count"),
		},
		"by=customer.country,a:quarter&distinct=b,c&having[count][gte]=2&having[sum.a][lt]=1.5&sort=-distinct.b&include=customer&fields[customer]=name": {
			params.By("customer.country", "a:quarter"), params.Distinct("b", "c"), params.Having(where("count").AtLeast(2), where("sum.a").Less(1.5)), params.Sort("-distinct.b"),
			params.Include("customer", params.Fields("name")),
		},
		"filter[a]=1,2&filter[active]&search=x&sort=-b,c&include=d&include[d][limit]=2&fields=e&cursor=" + id + "&limit=3": {
			params.Raw("filter[a]=1%2C2&filter%5Bactive%5D&sort=-b,c&include=d&include[d][limit]=2&fields=e&l=3&cursor=" + id + "&search=x"),
		},
	} {
		q, err := params.Of(given...)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		got, err := url.PathUnescape(strings.ReplaceAll(q.Encode(), "+", " "))
		if err != nil || got != want {
			t.Errorf("got  %s %v\nwant %s", got, err, want)
		}
	}
}

// TestNamesAreEscaped: no name and no value ends a parameter and begins another one.
func TestNamesAreEscaped(t *testing.T) {
	hostile := `a]=1&limit=0#,[%00+` + "\n"
	for _, given := range []params.Param{
		params.Where(hostile).Is(hostile), params.Where(hostile).In(hostile, hostile), params.Sort(hostile), params.Fields(hostile), params.By(hostile), params.Sum(hostile),
		params.Some(hostile, params.Where(hostile).Is(hostile)), params.Having(params.Where(hostile).Is(hostile)),
		params.Search(hostile), params.Since(hostile), params.Include("a&limit=0#", params.Sort(hostile), params.Fields(hostile), params.Where(hostile).Has(hostile)),
	} {
		q, err := params.Of(given)
		if err != nil {
			t.Fatal(err)
		}
		values, err := url.ParseQuery(q.Encode())
		if err != nil || values.Has("limit") || strings.ContainsAny(q.Encode(), "# \n") {
			t.Errorf("got %q %v", q.Encode(), err)
		}
	}
}

func TestMistakes(t *testing.T) {
	a := params.Where("a").Is(1)
	for want, given := range map[string][]params.Param{
		"a filter needs a field: begin it with Where":                                                                {params.Filter{}},
		"the filter eq of : the name of the field is empty":                                                          {params.Where("").Is(1)},
		"the filter eq of a: nothing is compared with nil: use Null or NotNull":                                      {params.Where("a").Is(nil)},
		"the filter ne of a: nothing is compared with nil: use Null or NotNull":                                      {params.Where("a").Not((*time.Time)(nil))},
		"the filter eq of a: a []int cannot be compared with a field: use a string, number, boolean or time":         {params.Where("a").Is([]int{1})},
		"the filter eq of a: NaN is not a number that a field can hold":                                              {params.Where("a").Is(math.NaN())},
		"the filter in of a: there must be at least one value":                                                       {params.Where("a").In([]string{})},
		"the filter has_all of a: only one value may end with a backslash":                                           {params.Where("a").HasAll(`x\`, `y\`)},
		"the filter has of a is given twice: give it once, with all values":                                          {params.Where("a").Has(1), params.Where("a").Has(2)},
		"Any must be given once, with all alternatives":                                                              {params.Any(a), params.Any(a)},
		"an alternative of Any is a filter that begins with Where, or And of such filters":                           {params.Any(params.Search("x"))},
		"a condition of Some is a filter that begins with Where, or And of such filters":                             {params.Some("b", params.Any(a))},
		"None needs the name of a relation, and conditions: Where(relation).Exists() has none":                       {params.None("b")},
		"the filter eq of a is given twice: give it once, with all values":                                           {params.Some("b", a, a)},
		"Having must be given once, with all filters":                                                                {params.Having(a), params.Having(a)},
		"Having takes filters that begin with Where, or And of such filters":                                         {params.Having(params.None("b", a))},
		"Search must be given once, with all words":                                                                  {params.Search("a"), params.Search("b")},
		"Sort must be given once, with all names":                                                                    {params.Sort("a"), params.Sort("b")},
		"Fields must be given once, with all names":                                                                  {params.Fields()},
		"a list has one Limit at most":                                                                               {params.Limit(1), params.Raw("l=2")},
		"an Offset cannot be negative, but is -1":                                                                    {params.Offset(-1)},
		"a list begins at one Offset, Cursor or Since":                                                               {params.Offset(1), params.Cursor(id)},
		`a Cursor is the id of a resource, a UUID, but is "x"`:                                                       {params.Cursor("x")},
		"Since needs the Position of an event or of a list":                                                          {params.Since("")},
		`"a,b" is not the name of a relation, or of several with dots between them`:                                  {params.Include("a,b")},
		"the relation a is included twice":                                                                           {params.Include("a"), params.Include("a")},
		`a relation of related resources is included by its path: Include("a.b")`:                                    {params.Include("a", params.Include("b"))},
		"the options of the relation a are filters, Sort, Limit, Fields and WithTotal":                               {params.Include("a", params.Offset(1))},
		"Sum must be given once, with all fields":                                                                    {params.Sum("a"), params.Sum("b")},
		`there is no parameter "page": there are filter[…], search, sort, offset, limit, cursor, include and fields`: {params.Raw("page=2")},
		`the parameter limit must be an integer, but is "x"`:                                                         {params.Raw("limit=x")},
	} {
		if _, err := params.Of(given...); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func ExampleQuery_Encode() {
	q, _ := params.Of(params.Where("age").AtLeast(18), params.Sort("-created_at"), params.Limit(10))
	fmt.Println(q.Encode())
	// Output: filter[age][gte]=18&sort=-created_at&limit=10
}

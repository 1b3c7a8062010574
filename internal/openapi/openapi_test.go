package openapi

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// options is those of a server with the defaults.
var options = Options{DefaultLimit: 100, MaxItems: 1000, MaxBody: 1 << 20}

// rich is a schema with every kind of attribute.
func rich(t *testing.T) *model.Schema {
	t.Helper()
	text, err := os.ReadFile("thirdparty/testdata/rich.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return (*model.Schema)(file.Schema)
}

// withEverything is the options of a server of that schema that has everything.
func withEverything(t *testing.T) Options {
	t.Helper()
	all := options
	all.MaxLimit, all.Hooks, all.Rated, all.CrossOrigin, all.Secure, all.Public = 1000, true, true, true, true, permit(t, rich(t), schema.Role{Name: schema.PublicRole})
	return all
}

func decoded(t *testing.T, document []byte) map[string]any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

// at walks into a document.
func at(value any, path ...string) any {
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func TestDocumentIsAlwaysTheSame(t *testing.T) {
	for _, s := range []func() *model.Schema{func() *model.Schema { return (*model.Schema)(schema.Example()) }, func() *model.Schema { return rich(t) }} {
		first := Document(s(), options)
		for range 5 {
			if !bytes.Equal(Document(s(), options), first) {
				t.Fatal("two documents of one schema differ")
			}
		}
	}
}

// TestOrderIsThatOfTheSchema: people read documents too.
func TestOrderIsThatOfTheSchema(t *testing.T) {
	text := string(Document((*model.Schema)(schema.Example()), options))
	last := 0
	for _, each := range []string{
		`"openapi":"3.1.0"`, `"info":`, `"servers":`, `"tags":[{"name":"users"`, `{"name":"posts"`, `{"name":"operations"`, `{"name":"Server"`,
		`"paths":{"/":`, `"/users":{"get":`, `"post":`, `"/users/{id}":{"parameters":`, `"get":`, `"put":`, `"patch":`, `"delete":`, `"/user/{id}":`,
		`"/users/{user_id}/posts":`, `"/users/{user_id}/posts/{id}":`, `"/posts":`, `"/posts/{id}":`, `"/post/{id}":`, `"/operations":`, `"/-/health":`, `"components":{"schemas":`,
		`"User":{`, `"id":`, `"type":`, `"name":`, `"email":`, `"active":`, `"created_at":`, `"updated_at":`,
	} {
		found := strings.Index(text[last:], each)
		if found < 0 {
			t.Fatalf("%s does not follow", each)
		}
		last += found
	}
}

func TestOperationIDs(t *testing.T) {
	ids := regexp.MustCompile(`"operationId":"([^"]*)"`).FindAllStringSubmatch(string(Document((*model.Schema)(schema.Example()), options)), -1)
	var got []string
	for _, each := range ids {
		got = append(got, each[1])
	}
	want := []string{
		"listCollections", "listUsers", "createUser", "updateUsers", "deleteUsers", "getUser", "replaceUser", "updateUser", "deleteUser", "listChangesOfUser", "getUserAtSingular",
		"listPostsOfUser", "createPostOfUser", "updatePostsOfUser", "deletePostsOfUser", "getPostOfUser", "replacePostOfUser", "updatePostOfUser", "deletePostOfUser", "listChangesOfPostOfUser",
		"listPosts", "createPost", "updatePosts", "deletePosts", "getPost", "replacePost", "updatePost", "deletePost", "listChangesOfPost", "getPostAtSingular",
		"listOperations", "getOperation", "getOperationAtSingular", "listChanges", "getChange", "getChangeAtSingular", "getHealth", "getReadiness", "getMetrics", "getAPICatalog", "getOpenAPI", "getMe", "runTransaction", "groupUsers", "groupPosts", "groupOperations",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestNamesThatCollide: what differs in the schema differs in the document.
func TestNamesThatCollide(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "users"}, model.Collection{Name: "user-creates"}, model.Collection{Name: "user_creates", Singular: "user__create"},
		model.Collection{Name: "user-lists"}, model.Collection{Name: "error-objects"}, model.Collection{Name: "error404s"},
		model.Collection{Name: "posts", Parent: &model.Parent{Collection: "users"}}, model.Collection{Name: "posts_of_users", Singular: "posts_of_user"},
	)
	if err != nil {
		t.Fatal(err)
	}
	document := decoded(t, Document(s, options))
	types := map[string]string{}
	for name, jsonSchema := range at(document, "components", "schemas").(map[string]any) {
		properties, isResource := at(jsonSchema, "properties", "type", "const").(string)
		if !isResource || at(jsonSchema, "required") == nil {
			continue
		}
		if other, twice := types[properties]; twice {
			t.Errorf("%s and %s are both of %s", name, other, properties)
		}
		types[properties] = name
	}
	want := map[string]string{
		"users": "User", "user-creates": "UserCreate2", "user_creates": "UserCreate3", "user-lists": "UserList", "error-objects": "ErrorObject2", "error404s": "Error404",
		"posts": "Post", "posts_of_users": "PostsOfUser", "operations": "Operation", "collections": "CollectionDescription", "changes": "Change",
	}
	if !reflect.DeepEqual(types, want) {
		t.Errorf("got %q", types)
	}
	seen := map[string]bool{}
	for _, path := range at(document, "paths").(map[string]any) {
		for _, operation := range path.(map[string]any) {
			if id, ok := at(operation, "operationId").(string); ok && seen[id] {
				t.Errorf("there are two operations %s", id)
			} else {
				seen[id] = true
			}
		}
	}
}

// TestExamples: wherever there is a body there is an example, and each is valid by the schema that it stands beside, also of
// parameters and headers.
func TestExamples(t *testing.T) {
	count := map[string]int{}
	example, everything := (*model.Schema)(schema.Example()), withEverything(t)
	for name, document := range map[string]map[string]any{"example": decoded(t, Document(example, options)), "rich": decoded(t, Document(rich(t), everything))} {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource("https://document.test/", document); err != nil {
			t.Fatal(err)
		}
		walk(document, nil, func(path []string, object map[string]any) {
			required := len(path) > 1 && path[0] == "components" && path[len(path)-1] == "application/json"
			if object["schema"] == nil && !required {
				return
			}
			kind := path[len(path)-2] // content, headers or parameters
			examples := []any{object["example"]}
			if several, ok := object["examples"].(map[string]any); ok {
				examples = nil
				for _, each := range several {
					examples = append(examples, at(each, "value"))
				}
			}
			if examples[0] == nil && !required {
				return
			}
			for i, token := range path {
				path[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
			}
			place := url.URL{Scheme: "https", Host: "document.test", Path: "/", Fragment: "/" + strings.Join(path, "/") + "/schema"}
			jsonSchema, err := compiler.Compile(place.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, example := range examples {
				count[kind]++
				if err := jsonSchema.Validate(example); err != nil {
					t.Errorf("%s, %s: %v", name, place.Fragment, err)
				}
			}
		})
	}
	if count["content"] < 60 || count["parameters"] < 60 || count["headers"] < 20 {
		t.Errorf("too few examples were found: %v", count)
	}
}

// walk visits all objects of a document.
func walk(value any, path []string, visit func(path []string, object map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(slices.Clone(path), value)
		for name, each := range value {
			walk(each, append(path[:len(path):len(path)], name), visit)
		}
	case []any:
		for i, each := range value {
			walk(each, append(path[:len(path):len(path)], strconv.Itoa(i)), visit)
		}
	}
}

// TestEveryCodeIsDeclared: each can be met in some operation, if a server has everything.
func TestEveryCodeIsDeclared(t *testing.T) {
	document := decoded(t, Document(rich(t), withEverything(t)))
	used, err := json.Marshal(at(document, "components", "responses"))
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range problem.Codes() {
		if code != problem.CodeMethodNotAllowed && !bytes.Contains(used, []byte(`"`+code+`"`)) {
			t.Errorf("%s is nowhere", code)
		}
	}
}

func TestPortablePatterns(t *testing.T) {
	for _, pattern := range []string{``, `^[a-z]+$`, `^[A-Z]{2}-\d+$`, `a{2,3}b{4}c{5,}?`, `\d\.\w`, `(?:a|b)*?`, `()|(x)+`, `\p{Lu}x`, `[\P{L}-]`, `[^.]`, `[^\-\]]`, `[a-z-]`, `[-a-z]`, `\^*\$?`, "^ü𝄞/$", `\t`} {
		if !portable.MatchString(pattern) {
			t.Errorf("%s is not taken for portable", pattern)
		}
	}
	for _, pattern := range []string{`a.b`, `\s`, `\S`, `[\s]`, `(?i)a`, `(?P<n>a)`, `\Aa\z`, `\pL`, `[[:alpha:]]`, `a{`, `a}`, `a{,2}`, `\x{10FFFF}`, `\Qa\E`, `[]a]`, `[^]a]`, `a]`, `[\S]`, `\a`, `\p{Any}`, `\p{Greek}`,
		`\p{^Lu}`, `^*a`, `a$?`, `\b`, `\\^{2}`, `[\w-.]`, `\@`, `\-`, "a\n."} {
		if _, err := regexp.Compile(pattern); err != nil {
			t.Error(err)
		}
		if portable.MatchString(pattern) {
			t.Errorf("%s is taken for portable", pattern)
		}
	}
}

func TestMatching(t *testing.T) {
	for _, c := range []struct {
		pattern string
		length  int
		want    string
	}{
		{`^[A-Z]{2}-\d+$`, 1, "AA-1"}, {`^[A-Z]{2}-\d+$`, 6, "AA-111"}, {`^a*$`, 3, "aaa"}, {`(x|y)z?`, 1, "x"}, {`^[^a-zA-Z0-9]$`, 1, "!"}, {`^(ab)+c{2,3}$`, 8, "abababccc"},
	} {
		if got := matching(c.pattern, c.length); got != c.want || !regexp.MustCompile(c.pattern).MatchString(got) {
			t.Errorf("%s of %d: %q", c.pattern, c.length, got)
		}
	}
}

// permit is the rights of callers with a role.
func permit(t *testing.T, s *model.Schema, role schema.Role) *auth.Permit {
	policy, err := auth.Compile(s, &schema.Access{Roles: []schema.Role{role}})
	if err != nil {
		t.Fatal(err)
	}
	return policy.Permit(auth.Caller{Role: role.Name})
}

// What can be seen and not changed may be sent back, and is marked for those who make forms.
func TestWhatCannotBeSetIsReadOnly(t *testing.T) {
	s, restricted := (*model.Schema)(schema.Example()), options
	restricted.By = permit(t, s, schema.Role{Name: "clerk", Grants: []schema.Grant{
		{Collection: "users", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayUpdate}, Writable: []string{"name"}},
	}})
	schemas := at(decoded(t, Document(s, restricted)), "components", "schemas")
	marked := map[string]any{}
	for _, jsonSchema := range []string{"User", "UserReplace", "UserPatch"} {
		for _, attribute := range []string{"name", "email"} {
			marked[jsonSchema+" "+attribute] = at(schemas, jsonSchema, "properties", attribute, "readOnly")
		}
	}
	want := map[string]any{
		"User name": nil, "User email": nil,
		"UserReplace name": nil, "UserReplace email": true,
		"UserPatch name": nil, "UserPatch email": true,
	}
	if !reflect.DeepEqual(marked, want) {
		t.Errorf("readOnly of the attributes is %v, want %v", marked, want)
	}
}

func TestNamesOfSchemasStay(t *testing.T) {
	const users = "  users: {attributes: {name: {type: string}, boss_id: {references: users}}}\n"
	const others = "  user-creates: {attributes: {s: {type: string}}}\n"
	schemas := func(collections string) string {
		file, err := schema.Parse([]byte("collections:\n" + collections))
		if err != nil {
			t.Fatal(err)
		}
		document := decoded(t, Document((*model.Schema)(file.Schema), options))
		user := at(document, "components", "responses", "UserResponse", "content", "application/json", "example", "data")
		if boss, isText := at(user, "boss_id").(string); !isText || boss == at(user, "id") {
			t.Errorf("an example is its own boss, or has none: %v", user)
		}
		if described, ok := at(document, "components", "schemas", "User", "properties", "name").(map[string]any)["description"]; ok {
			t.Errorf("nothing is known of the name, but it is described: %v", described)
		}
		var names []string
		for name, jsonSchema := range at(document, "components", "schemas").(map[string]any) {
			if !strings.HasPrefix(name, "Operation") && !strings.HasSuffix(name, "Input") && !slices.Contains(ownSchemas, name) {
				_, ofUsers := at(jsonSchema, "properties").(map[string]any)["boss_id"]
				names = append(names, map[bool]string{true: name, false: "other " + name}[ofUsers])
			}
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	}
	if got, want := schemas(users), "User, UserCreate, UserPatch, UserReplace"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, both := range []string{users + others, others + users} {
		if got, want := schemas(both), "User, UserCreate, UserPatch, UserReplace, other UserCreate2, other UserCreate2Create, other UserCreate2Patch, other UserCreate2Replace"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestInfo: what the operator says of the API is in the document, and nothing empty.
func TestInfo(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	plain := at(decoded(t, Document(s, options)), "info").(map[string]any)
	if plain["title"] != "Plural API" || plain["version"] != "1.0.0" || plain["description"] != infoText || plain["contact"] != nil || plain["license"] != nil {
		t.Errorf("without info: %v", plain)
	}
	given := options
	given.Info = schema.Info{
		Title: "Blog", Version: "2.1", Description: "What people write.",
		Contact: schema.Contact{Name: "Ada", Email: "ada@example.com"}, License: schema.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
	}
	want := map[string]any{
		"title": "Blog", "version": "2.1", "summary": plain["summary"], "description": "What people write.\n\n" + infoText,
		"contact": map[string]any{"name": "Ada", "email": "ada@example.com"}, "license": map[string]any{"name": "Apache 2.0", "identifier": "Apache-2.0"},
	}
	if got := at(decoded(t, Document(s, given)), "info"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

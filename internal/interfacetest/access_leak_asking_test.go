package interfacetest

// askingPaths are the requests with which somebody could ask for hidden posts through relations, counts and groups.
func askingPaths() []string {
	return []string{
		// Sorts through references, and by numbers of related resources.
		"/notes?sort=post.title", "/notes?sort=-post.title,-post.user.name&limit=2", "/notes?sort=post.published&cursor=" + id(30), "/notes?sort=post.user.name&offset=1&limit=-1",
		"/posts?sort=-user.name,title", "/posts?sort=user.rank&limit=-2", "/users?sort=-count.posts", "/users?sort=count.posts,-name&limit=1", "/users?sort=-count.posts&cursor=" + id(boAt),
		"/users?include=posts&include[posts][sort]=-user.name,title&include[posts][limit]=1", "/posts?include=notes&include[notes][sort]=post.title", "/notes?sort=post.nope", "/users?sort=posts.title",
		// Numbers of related resources.
		"/users?filter[count.posts][gte]=3", "/users?filter[count.posts]=5", "/users?filter[count.posts][lt]=10", "/users?filter[any][0][count.posts][gt]=5&filter[any][1][name]=User+1",
		"/posts?filter[count.notes]=0", "/users?filter[count.nope]=1",
		// Conditions on one related resource.
		"/users?filter[some][0][posts.published]=false", "/users?filter[some][0][posts.title]=Post+11&filter[some][0][posts.published]=false", "/users?filter[none][0][posts.published]=false",
		"/users?filter[none][0][posts.id]=" + id(11), "/users?filter[some][0][posts.id]=" + id(11) + "&filter[some][1][posts.id]=" + id(12), "/users?filter[none][0][posts.title][starts_with]=Post",
		"/users?filter[some][0][posts.notes.text]=x", "/users?filter[none][0][posts.notes.id][gte]=" + id(0), "/users?filter[some][0][posts.user.email]=x",
		// Whether there are related resources.
		"/notes?filter[post][exists]=true", "/notes?filter[post][exists]=false", "/notes?filter[post.user][exists]=false", "/posts?filter[notes][exists]=true", "/users?filter[posts][exists]=false",
		"/users?filter[posts.notes][exists]=true", "/users?filter[posts.notes][exists]=false", "/users?filter[any][0][posts][exists]=false&filter[any][1][name]=User+1", "/users?filter[posts.id][null]=true",
		// Words of one attribute.
		"/posts?filter[title][search]=post+11", "/users?filter[posts.title][search]=11", "/notes?filter[post.title][search]=POST", "/users?filter[none][0][posts.title][search]=11",
		// Groups.
		"/-/groups/posts?by=title&sort=-count", "/-/groups/posts?by=user_id&distinct=title&sort=-distinct.title", "/-/groups/posts?by=user_id&having[count][gte]=5", "/-/groups/posts?by=user_id&max=title&having[max.title]=Post+19&sort=-max.title",
		"/-/groups/posts?by=user.name", "/-/groups/posts?by=user.name,published&distinct=id", "/-/groups/posts?by=user_id&include=user", "/-/groups/posts?by=user_id&include=user.posts&include[user.posts][total]=true",
		"/-/groups/posts?distinct=title,published", "/-/groups/posts?by=created_at:week", "/-/groups/posts?by=created_at:quarter&having[count][lt]=7",
		"/-/groups/notes?by=post.title", "/-/groups/notes?by=post.published&sort=-count", "/-/groups/notes?by=post.user.name,post_id&include=post", "/-/groups/notes?by=post_id&include=post&fields[post]=title",
		"/-/groups/users?by=rank&filter[count.posts][gte]=3", "/-/groups/users?filter[none][0][posts.published]=false", "/-/groups/users?by=posts.title",
	}
}

// attributePaths are the requests with which somebody could ask for hidden emails in the same way.
func attributePaths() []string {
	return []string{
		"/posts?sort=user.email", "/posts?sort=-user.email,title", "/notes?sort=post.user.email", "/users?include=posts&include[posts][sort]=user.email",
		"/users?filter[email][search]=user1", "/posts?filter[user.email][search]=user1", "/posts?filter[user.email]=a", "/users?filter[some][0][posts.user.email]=a", "/users?filter[none][0][posts.user.email][null]=true",
		"/users?filter[email][exists]=true", "/users?filter[count.email]=1", "/users?sort=count.email", "/users?filter[some][0][email]=a", "/users?sort=email.x", "/users?filter[email.x]=1",
		"/-/groups/users?distinct=email", "/-/groups/users?by=rank&distinct=email&sort=-distinct.email", "/-/groups/users?having[max.email][gt]=a", "/-/groups/users?by=rank&sort=-max.email", "/-/groups/users?max=email&having[max.email][gt]=a",
		"/-/groups/posts?by=user.email", "/-/groups/notes?by=post.user.email", "/-/groups/posts?by=user_id&include=user", "/-/groups/posts?by=user_id&include=user&fields[user]=email", "/-/groups/users?by=email:week",
	}
}

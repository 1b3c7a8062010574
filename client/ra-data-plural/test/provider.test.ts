import assert from "node:assert/strict";
import { test } from "node:test";
import { pluralDataProvider, type PluralHttpError } from "../src/index.ts";

/** What the harness (cmd/plural/react_admin_test.go) says. */
function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run go test ./cmd/plural -run ReactAdmin`);
  return value;
}

let requests: string[] = [];
const counted = (url: string, init: RequestInit) => {
  requests.push(`${init.method} ${decodeURIComponent(new URL(url).pathname)}`);
  return fetch(url, init);
};
const provider = pluralDataProvider({ baseURL: setting("SHOP"), key: async () => setting("CLERK"), fetch: counted });
const firstPage = { pagination: { page: 1, perPage: 10 }, sort: { field: "title", order: "ASC" } } as const;

/** A word that no other test uses. */
const word = () => `w${crypto.randomUUID().replaceAll("-", "")}`;

/** An author with books. */
async function written(...titles: string[]) {
  const name = word();
  const { data: author } = await provider.create("authors", { data: { name, country: "UK" } });
  const books: any[] = [];
  for (const [at, title] of titles.entries()) {
    books.push((await provider.create("books", { data: { title: `${title} ${name}`, pages: at, tags: [title], size: { height: at }, author_id: author.id } })).data);
  }
  return { name, author, books };
}

test("getList has a page, its order and the total", async () => {
  const { name, books } = await written("c", "a", "b");
  const filter = { q: name };
  assert.deepEqual(await provider.getList("books", { ...firstPage, filter }), { data: [books[1], books[2], books[0]], total: 3 });
  const second = { pagination: { page: 2, perPage: 2 }, sort: { field: "title", order: "DESC" as const }, filter };
  assert.deepEqual(await provider.getList("books", second), { data: [books[1]], total: 3 });
  assert.deepEqual(await provider.getList("books", { ...firstPage, filter: { q: `${name} a` } }), { data: [books[1]], total: 1 });
});

test("filters are values, lists, operators, and fields of related resources", async () => {
  const { name, author, books } = await written("a", "b", "c,d");
  const found = async (filter: object) => (await provider.getList("books", { ...firstPage, filter: { author_id: author.id, ...filter } })).data;
  assert.deepEqual(await found({ pages: 1 }), [books[1]]);
  assert.deepEqual(await found({ pages: [0, 2] }), [books[0], books[2]]);
  assert.deepEqual(await found({ pages: [] }), books);
  assert.deepEqual(await found({ pages: { gte: 1, lt: 2 } }), [books[1]]);
  assert.deepEqual(await found({ title: { in: [`c,d ${name}`, `a ${name}`] } }), [books[0], books[2]]);
  assert.deepEqual(await found({ tags: { has: ["a", "c,d"] } }), [books[0], books[2]]);
  assert.deepEqual(await found({ tags: { has_all: ["c,d"] } }), [books[2]]);
  assert.deepEqual(await found({ size: { height: { gt: 0 } } }), [books[1], books[2]]);
  assert.deepEqual(await found({ author: { country: "UK", name } }), books);
  assert.deepEqual(await found({ author: { country: null } }), []);
  assert.deepEqual(await found({ created_at: { lte: new Date(0) } }), []);
});

test("sorts and filters through relations, by search and by counts", async () => {
  const { name, author, books } = await written("a", "b");
  const second = await written("c");
  const third = (await provider.create("authors", { data: { name: `z${word()}` } })).data;
  const authors = async (filter: object, field = "name", order: "ASC" | "DESC" = "ASC") =>
    (await provider.getList("authors", { ...firstPage, sort: { field, order }, filter: { id: [author.id, second.author.id, third.id], ...filter } })).data;
  const both = name < second.name ? [author, second.author] : [second.author, author];
  const sort = { field: "author.name", order: "DESC" as const };
  const { data } = await provider.getList("books", { ...firstPage, sort, filter: { id: [books[0].id, second.books[0].id] } });
  assert.deepEqual(data.map(({ author_id }) => author_id), both.map(({ id }) => id).reverse());
  assert.deepEqual(await authors({}, "count.books", "DESC"), [author, second.author, third]);
  assert.deepEqual(await authors({ count: { books: { gte: 1 } } }), both);
  assert.deepEqual(await authors({ name: { search: name.toUpperCase() } }), [author]);
  assert.deepEqual(await authors({ books: { exists: false } }), [third]);
  assert.deepEqual(await authors({ some: { books: { title: { starts_with: "a" }, pages: 1 } } }), []);
  assert.deepEqual(await authors({ some: { books: { title: { starts_with: "b" }, pages: { gte: 1 } } } }), [author]);
  assert.deepEqual(await authors({ none: { books: { pages: 1, size: { height: 1 } } } }, "count.books", "DESC"), [second.author, third]);
});

test("decimals are read as text, and numbers of inputs are sent as decimals", async () => {
  const { data } = await provider.create("authors", { data: { name: word(), royalty: 12.5, rating: 0.5, sums: { paid: 3, all: [1.25, "2"] } } });
  assert.deepEqual([data.royalty, data.rating, data.sums], ["12.50000000", 0.5, { paid: "3.00", all: ["1.25", "2.00"] }]);
  const update = async (changes: object) => (await provider.update("authors", { id: data.id, data: { ...data, ...changes }, previousData: data })).data;
  assert.equal((await update({ royalty: 1e-7 })).royalty, "0.00000010");
  assert.equal((await update({ royalty: "1234567890.12345678" })).royalty, "1234567890.12345678");
  assert.equal((await update({ royalty: -1234567.12345678 })).royalty, "-1234567.12345678");
  const { data: ids } = await provider.updateMany("authors", { ids: [data.id], data: { royalty: 2 } });
  assert.deepEqual(ids, [data.id]);
  assert.deepEqual((await provider.getList("authors", { ...firstPage, sort: { field: "name", order: "ASC" }, filter: { id: data.id, royalty: { gte: 2, lt: 2.5 } } })).data.map(({ royalty }) => royalty), ["2.00000000"]);
  await assert.rejects(update({ royalty: 1234567890.12345678 }), (error: PluralHttpError) => {
    assert.deepEqual([error.status, error.body.errors], [422, { royalty: "A number input keeps at most 15 digits. Use a text input for more." }]);
    return true;
  });
  await assert.rejects(update({ royalty: 0.5, sums: { all: [1.005] } }), (error: PluralHttpError) => error.status === 422 && "sums.all.0" in error.body.errors);
  requests = [];
  await update({ rating: 0.75 });
  assert.deepEqual(requests, [`PATCH /authors/${data.id}`]);
});

test("getOne and meta.include", async () => {
  const { author, books } = await written("a");
  assert.deepEqual(await provider.getOne("books", { id: books[0].id }), { data: books[0] });
  const { data } = await provider.getOne("books", { id: books[0].id, meta: { include: ["author"], fields: ["title"] } });
  assert.deepEqual(data, { id: books[0].id, type: "books", title: books[0].title, author });
});

test("getMany and getManyReference", async () => {
  const { author, books } = await written("b", "a");
  const { data } = await provider.getMany("books", { ids: [books[0].id, books[1].id, books[0].id] });
  assert.deepEqual(data, books);
  const reference = { ...firstPage, target: "author_id", id: author.id, filter: { pages: { gte: 1 } } };
  assert.deepEqual(await provider.getManyReference("books", reference), { data: [books[1]], total: 1 });
  requests = [];
  assert.deepEqual(await provider.getMany("books", { ids: [] }), { data: [] });
  assert.deepEqual(requests, []);
});

test("update sends what has changed", async () => {
  const { books } = await written("a");
  const { data: previousData } = await provider.getOne("books", { id: books[0].id, meta: { include: "author" } });
  const { data } = await provider.update("books", { id: previousData.id, data: { ...previousData, title: "Changed" }, previousData });
  assert.deepEqual(data, { ...books[0], title: "Changed", updated_at: data.updated_at });
  const { data: same } = await provider.update("books", { id: data.id, data: { ...data, pages: 7 }, previousData: undefined as never });
  assert.equal(same.pages, 7);
  const stale = { id: data.id, data: { pages: 8 }, previousData: data, meta: { ifMatch: '"0"' } };
  await assert.rejects(provider.update("books", stale), { status: 412 });
});

test("updateMany and deleteMany are one request, which does all or nothing", async () => {
  const { author, books } = await written("a", "b", "c");
  const ids = books.map(({ id }) => id);
  requests = [];
  assert.deepEqual(await provider.updateMany("books", { ids, data: { pages: 9 } }), { data: ids });
  assert.deepEqual(requests, ["PATCH /books"]);
  await assert.rejects(provider.updateMany("books", { ids, data: { title: "" } }), { status: 422 });
  // The author cannot go, as books refer to it, so that the other one stays too.
  const other = (await provider.create("authors", { data: { name: word() } })).data;
  await assert.rejects(provider.deleteMany("authors", { ids: [other.id, author.id] }), { status: 409 });
  assert.equal((await provider.getMany("authors", { ids: [other.id, author.id] })).data.length, 2);
  requests = [];
  assert.deepEqual(await provider.deleteMany("books", { ids }), { data: ids });
  assert.deepEqual(requests, ["DELETE /books"]);
  assert.deepEqual(await provider.delete("authors", { id: other.id }), { data: other });
});

test("more ids than maxIds are sent in several requests", async () => {
  const { books } = await written("a", "b", "c", "d", "e");
  const few = pluralDataProvider({ baseURL: `${setting("SHOP")}/`, key: setting("CLERK"), fetch: counted, maxIds: 2 });
  const ids = books.map(({ id }) => id);
  requests = [];
  assert.deepEqual((await few.getMany("books", { ids })).data, books);
  assert.deepEqual(await few.deleteMany("books", { ids }), { data: ids });
  assert.deepEqual(requests, [...Array(3).fill("GET /books"), ...Array(3).fill("DELETE /books")]);
});

test("errors have the messages of the fields of a form", async () => {
  await assert.rejects(provider.create("authors", { data: { name: "", country: 3 } }), (error: PluralHttpError) => {
    assert.equal(error.status, 422);
    assert.deepEqual(Object.keys(error.body.errors), ["name", "country"]);
    assert.equal(error.body.errors["country"], "Must be a string, but is a number.");
    assert.deepEqual(error.body.problems.map(({ code }) => code), ["min_length", "type"]);
    return true;
  });
  const { name } = await written();
  await assert.rejects(provider.create("authors", { data: { name } }), (error: PluralHttpError) => error.status === 409 && error.body.errors["name"] === error.message);
  await assert.rejects(provider.getOne("authors", { id: crypto.randomUUID() }), (error: PluralHttpError) => {
    assert.equal(error.status, 404);
    assert.deepEqual(error.body.errors, { root: { serverError: error.message } });
    return true;
  });
  const nobody = pluralDataProvider({ baseURL: setting("SHOP") });
  await assert.rejects(nobody.getList("authors", { ...firstPage, sort: { field: "name", order: "ASC" }, filter: {} }), { status: 401 });
  await assert.rejects(provider.getOne("books", { id: "../authors" }), { status: 404 });
  await assert.rejects(provider.getList("books", { ...firstPage, filter: {}, signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("requests ask for the version of the options", async () => {
  const versions: (string | null)[] = [];
  const recorded = (_: string, init: RequestInit) => {
    versions.push(new Headers(init.headers).get("API-Version"));
    return Promise.resolve(Response.json({ data: [] }, { headers: { "X-Total-Count": "0" } }));
  };
  for (const options of [{ apiVersion: 2 }, {}]) {
    await pluralDataProvider({ baseURL: "http://localhost", fetch: recorded, ...options }).getList("books", firstPage);
  }
  assert.deepEqual(versions, ["2", null]);
});

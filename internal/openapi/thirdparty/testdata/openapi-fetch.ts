import { asked, count, expect } from "./checked.js";
import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript.js";

const api = createClient<paths>({ baseUrl: process.argv[2]!, querySerializer: { object: { style: "form", explode: true } } });
/** The whole resource: an answer with 202 has its id only. */
function whole<T extends object>(data: T | undefined): Extract<T, { title: string }> {
  if (data === undefined || !("title" in data)) throw new Error(`not a whole resource: ${JSON.stringify(data)}`);
  return data as Extract<T, { title: string }>;
}

const ids: string[] = [];
for (const [title, price, weight, rank] of [["Lamp", "19.9", 0.29, 1], ["Desk", "129", 1.1, 2], ["Chair", "59.95", 4.35, 2]] as const) {
  const { data, response } = await api.POST("/products", { body: { title, price, weight, rank } });
  expect("the status of a creation", response.status, 201);
  const created = data!.data;
  if (Array.isArray(created)) throw new Error("one resource is an array");
  ids.push(created.id);
}
const several = await api.POST("/products", { body: [{ title: "Bed", price: "0.05", weight: 0.07, rank: 3 }] });
expect("the status of several", several.response.status, 201);

const list = await api.GET("/products", { params: { query: { "filter[title]": ["Lamp", "Desk", "Bed"], "filter[rank][in]": [1, 2], "filter[state][not_in]": ["sold", "listed"], sort: ["-rank", "price"] } } });
expect("the list", list.data?.data.map((each) => [each.title, each.price, each.weight]), [["Desk", "129.00", 1.1], ["Lamp", "19.90", 0.29]]);
const sorted = await api.GET("/products", { params: { query: { sort: ["-rank", "price"], "filter[price][gte]": "19.9" } } });
const any = await api.GET("/products", { params: { query: { filters: { "filter[any][0][title]": "Chair", "filter[any][1][price][lt]": "20" }, sort: ["-rank", "price"] } } });
expect("a list with filters of any kind", any.data?.data.map((each) => each.title), ["Bed", "Chair", "Lamp"]);
expect("the sorted list", sorted.data?.data.map((each) => each.title), ["Chair", "Desk", "Lamp"]);

const patched = await api.PATCH("/products/{id}", { params: { path: { id: ids[0]! } }, body: { price: "21", state: "listed" } });
expect("the change", [whole(patched.data?.data).price, whole(patched.data?.data).state], ["21.00", "listed"]);
const refused = await api.PATCH("/products/{id}", { params: { path: { id: ids[0]! } }, body: { weight: 0.001 } });
expect("the refusal", refused.error?.errors[0]?.code, "multiple_of");

const all = await api.GET("/products", {});
for (const each of all.data!.data) {
  const deleted = await api.DELETE("/products/{id}", { params: { path: { id: each.id } } });
  expect("what was deleted", whole(deleted.data?.data).title, each.title);
}
expect("a repeated parameter", asked.some((each) => each.includes("sort=-rank&sort=price")), true);
console.log(`${count()} bodies`);

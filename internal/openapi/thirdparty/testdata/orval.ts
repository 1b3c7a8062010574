import { asked, count, expect } from "./checked.js";
import { createProduct, deleteProduct, listProducts, updateProduct } from "./generated/orval.js";

const ids: string[] = [];
for (const [title, price, weight, rank] of [["Lamp", "19.9", 0.29, 1], ["Desk", "129", 1.1, 2], ["Chair", "59.95", 4.35, 2]] as const) {
  const created = await createProduct({ title, price, weight, rank });
  if (created.status !== 201 || Array.isArray(created.data.data)) throw new Error(`creating gives ${created.status}`);
  ids.push(created.data.data.id);
}

const list = await listProducts({ "filter[title]": ["Lamp", "Desk"], "filter[rank][in]": [1, 2], sort: ["-rank", "price"] });
if (list.status !== 200) throw new Error(`the list gives ${list.status}`);
expect("the list", list.data.data.map((each) => [each.title, each.price, each.weight]), [["Desk", "129.00", 1.1], ["Lamp", "19.90", 0.29]]);

const patched = await updateProduct(ids[0]!, { price: "21", state: "listed" });
if (patched.status !== 200) throw new Error(`the change gives ${patched.status}`);
expect("the change", [patched.data.data.price, patched.data.data.state], ["21.00", "listed"]);

for (const id of ids) {
  const deleted = await deleteProduct(id);
  expect("the status of a deletion", deleted.status, 200);
}
expect("a repeated parameter", asked.some((each) => each.includes("sort=-rank&sort=price")), true);
console.log(`${count()} bodies`);

// Replaces fetch by one that holds every body, in both directions, to the OpenAPI document, as
// a validating proxy does, and writes down what was asked for.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

const document = JSON.parse(readFileSync(new URL("../document.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat("decimal", true); // its pattern says what it is
ajv.addSchema(document, "document");

const token = (text: string) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"));

/** The pointer to what a pointer leads to. */
function follow(pointer: string[]): string[] {
  let value = document;
  for (const name of pointer) value = value?.[name];
  return typeof value?.$ref === "string" ? follow(value.$ref.slice(2).split("/")) : pointer;
}

let checked = 0;

function check(what: string, pointer: string[], body: string): void {
  const validate = ajv.compile({ $ref: `document#/${[...follow(pointer), "content", "application/json", "schema"].map(token).join("/")}` });
  if (!validate(JSON.parse(body))) throw new Error(`${what}: ${ajv.errorsText(validate.errors)}\n${body}`);
  checked++;
}

export const asked: string[] = [];
/** How many bodies were held to the document. */
export const count = () => checked;

const next = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const url = new URL(request.url);
  const path = url.pathname.split("/").length === 3 ? "/products/{id}" : "/products";
  const operation = ["paths", path, request.method.toLowerCase()];
  asked.push(`${request.method} ${path}${decodeURIComponent(url.search)}`);
  const sent = await request.clone().text();
  if (sent !== "") check(`sent with ${request.method} ${path}`, [...operation, "requestBody"], sent);
  const response = await next(request);
  const status = String(response.status);
  const declared = document.paths[path][request.method.toLowerCase()].responses;
  check(`answer ${status} of ${request.method} ${path}`, [...operation, "responses", status in declared ? status : "default"], await response.clone().text());
  return response;
};

/** Fails unless two values have the same JSON. */
export function expect(what: string, got: unknown, want: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

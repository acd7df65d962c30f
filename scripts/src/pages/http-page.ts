import { groupTitles, type Json, type Route, routes } from "@engine/contract";
import { fieldTexts, type JsonSchema, rangeText, typeText } from "../json-schema.ts";
import { code, fenced, table } from "../markdown.ts";
import { sampleOf } from "../sample.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-permission": string;
  readonly "x-effect": string;
  readonly "x-frames"?: Readonly<Record<string, JsonSchema>>;
  readonly "x-lines"?: JsonSchema;
  readonly parameters: readonly {
    name: string;
    in: string;
    required: boolean;
    schema: JsonSchema;
  }[];
  readonly requestBody?: RequestBody | { readonly $ref: string };
  readonly responses: Record<
    string,
    {
      description: string;
      headers?: Record<string, { description?: string }>;
      content?: Record<string, { schema: JsonSchema }>;
    }
  >;
}
interface RequestBody {
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly requestBodies: Readonly<Record<string, RequestBody>>;
  };
}

/** `docs/http.md`, from the OpenAPI document of the route table. */
export function httpPage(document: Json): string {
  const { paths, components } = document as unknown as Document;
  const groups = Object.entries(routes).map(([group, rows]) => {
    const sections = Object.values<Route>(rows).map((route) => {
      const operation = paths[route.path]?.[route.method.toLowerCase()];
      if (!operation) throw new Error(`${route.method} ${route.path} is not in the document`);
      return routeSection(route, operation, components);
    });
    return `## ${groupTitles[group as keyof typeof routes]}\n\n${sections.join("\n")}`;
  });
  const bodies = Object.entries(components.requestBodies).map(
    ([name, { content }]) => [name, jsonOf(content)] as const,
  );
  const shapes = [...Object.entries(components.schemas), ...bodies]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `### ${name}\n\n${fenced("ts", shapeText(schema))}`);
  return `# HTTP interface

Printed from the route table; [openapi.json](openapi.json) has the same for machines, and a running server answers it under \`GET /openapi.json\`. Bodies are JSON, sent as \`application/json\` or as \`curl -d\` sends it; an empty body is \`null\`. In the commands \`<…>\` and \`…\` stand for something of yours. A query key that takes a list may be repeated. Instants are ISO 8601 in UTC; an event's \`time\` is \`YYYY-MM-DD HH:MM:SS.mmm\`. Anything but a listed answer is an error as in [errors.md](errors.md). The permission is what a caller needs once authorization is on: \`open\` is for everybody, \`identity\` for every known caller, \`worker\` for a worker's own session, \`run(…)\` stands for what running that workflow takes, and of a list with \`scoped(…)\` a caller sees what it may read.

A call that waits for an execution answers its record under a status that tells its state: 200 COMPLETED, 202 paused or still under way, 409 CANCELLED, 500 FAILED.

${groups.join("\n")}
## Shapes

${shapes.join("\n")}`;
}

type Components = Document["components"];

function jsonOf(content: RequestBody["content"]): JsonSchema {
  return content["application/json"]?.schema ?? {};
}

function routeSection(route: Route, operation: Operation, components: Components): string {
  const client = route.lines ? "" : ` · ${code(`client.${operation.operationId}`)}`;
  const permission = code(operation["x-permission"]);
  const parts = [
    `### ${route.method} ${route.path}`,
    operation.summary,
    `${operation["x-effect"]} · permission ${permission}${client}`,
    parametersTable(operation),
    bodyText(operation),
    answersTable(operation),
    framesText(operation),
    fenced("sh", curl(route, operation, components)).trimEnd(),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function parametersTable({ parameters }: Operation): string {
  const rows = parameters
    .filter((parameter) => parameter.in !== "path")
    .map(({ name, in: place, schema }) => {
      const range = rangeText(schema);
      const initial = schema.default === undefined ? "" : code(JSON.stringify(schema.default));
      const type = range ? `${typeText(schema)}, ${range}` : typeText(schema);
      return [code(name), place, type, initial, schema.description ?? ""];
    });
  const head = ["parameter", "in", "type", "default", "meaning"];
  return rows.length ? table(head, rows).trimEnd() : "";
}

function bodyText({ requestBody }: Operation): string {
  if (requestBody && "$ref" in requestBody) return `Body: ${linked(requestBody)}`;
  const lines = requestBody?.content["application/x-ndjson"]?.schema;
  if (lines) return `Body: lines of JSON, each ${linked(lines)}`;
  const schema = requestBody?.content["application/json"]?.schema;
  return schema ? `Body: ${linked(schema)}` : "";
}

function answersTable({ responses }: Operation): string {
  const rows = Object.entries(responses)
    .filter(([status]) => /^\d+$/.test(status))
    .map(([status, { description, headers = {}, content }]) => {
      const json = content?.["application/json"];
      if (json) {
        const body = linked(Number(status) < 400 ? json.schema : resultOf(json.schema));
        return [status, description === "A result." ? body : `${body}: ${description}`];
      }
      const told = Object.entries(headers).map(
        ([name, header]) => `; header ${code(name)}: ${header.description}`,
      );
      return [
        status,
        content
          ? `${code(Object.keys(content).join())}: ${description}`
          : description + told.join(),
      ];
    });
  return table(["answer", "body"], rows).trimEnd();
}

/** Of a status that may be a result or a refusal, the result. */
function resultOf({ anyOf: [result = {}] = [] }: JsonSchema): JsonSchema {
  return result;
}

function framesText(operation: Operation): string {
  const frames = operation["x-frames"];
  if (!frames) return "";
  const rows = Object.entries(frames).map(([name, schema]) => [code(name), linked(schema)]);
  return table(["frame of its stream", "data"], rows).trimEnd();
}

/** A named shape as a link to it, anything else as a type. */
function linked(schema: JsonSchema): string {
  if (!schema.$ref) return code(typeText(schema));
  const name = typeText(schema);
  return `[${name}](#${name.toLowerCase()})`;
}

function shapeText(schema: JsonSchema): string {
  const members = schema.anyOf ?? schema.oneOf;
  if (members?.every((member) => member.properties)) return unionText(members);
  if (!schema.properties) return typeText(schema);
  return `{\n${fieldTexts(schema)
    .map((field) => `  ${field};\n`)
    .join("")}}`;
}

/** A union of objects: the fields that all have in common once, then what sets each apart. */
function unionText(members: readonly JsonSchema[]): string {
  const [first = []] = members.map(fieldTexts);
  const shared = first.filter((field) =>
    members.every((member) => fieldTexts(member).includes(field)),
  );
  const rest = members.map((member) => {
    const own = fieldTexts(member).filter((field) => !shared.includes(field));
    return `  | { ${own.join("; ")} }\n`;
  });
  if (shared.length === 0) return rest.map((line) => line.trim()).join("\n");
  return `{\n${shared.map((field) => `  ${field};\n`).join("")}} & (\n${rest.join("")})`;
}

const SAMPLE_PARAMS: Readonly<Record<string, string>> = {
  ns: "default",
  wf: "hello_world",
  workflow_name: "hello_world",
  service: "billing",
  workflow: "invoice",
  mode: "sync",
  version: "1",
  seq: "1",
};

/** `{name}` names something else under each of these paths. */
const NAMED: readonly (readonly [string, string])[] = [
  ["/signals/", "paid"],
  ["/schedules/", "nightly"],
  ["/hooks/", "page-on-failure"],
  ["/services/", "billing"],
  ["/workers/", "worker-1"],
];

/** A value to type, or the parameter itself in angle brackets, such as `<id>`. */
function sampleParam(name: string, path: string): string {
  const named = name === "name" ? NAMED.find(([part]) => path.includes(part))?.[1] : undefined;
  return named ?? SAMPLE_PARAMS[name] ?? `<${name}>`;
}

function bodySchema(
  { requestBody }: Operation,
  { requestBodies }: Components,
): JsonSchema | undefined {
  if (!requestBody || !("$ref" in requestBody)) {
    return requestBody?.content["application/json"]?.schema;
  }
  const body = requestBodies[requestBody.$ref.split("/").at(-1) ?? ""];
  return body && jsonOf(body.content);
}

function curl(route: Route, operation: Operation, components: Components): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => sampleParam(name, route.path));
  const schema = bodySchema(operation, components);
  // Those of a client's own, such as an idempotency key, are for who needs them.
  const headers = operation.parameters.filter(
    ({ name, required }) => required && name.startsWith("x-engine-"),
  );
  const required = operation.parameters.filter((p) => p.in === "query" && p.required);
  const search = required.map(({ name }, i) => `${i ? "&" : "?"}${name}=1`).join("");
  const onlyStream = !operation.responses["200"]?.content?.["application/json"] && route.frames;
  const words = [
    onlyStream ? "curl -N" : "curl",
    ...(route.method === "GET" ? [] : [`-X ${route.method}`]),
    `'http://127.0.0.1:8000${path}${search}'`,
    ...headers.map(({ name }) => `-H '${name}: <${name.split("-").at(-1)}>'`),
    ...(route.lines ? ["-H 'content-type: application/x-ndjson' -N -T lines.ndjson"] : []),
    ...(schema ? [`-d '${JSON.stringify(sampleOf(schema, components.schemas))}'`] : []),
  ];
  return words.join(" ");
}

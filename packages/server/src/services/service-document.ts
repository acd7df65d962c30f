/** The OpenAPI document of one service: the operations of the route table, once for each endpoint (SVC-58). */
import {
  type Json,
  openApiDocument,
  type ResolvedService,
  routes,
  type ServiceEndpoint,
} from "@engine/contract";
import { type EndpointNames, endpointNames, type JsonSchema, placeSchema } from "@engine/mcp";

type JsonObject = { [key: string]: Json };

/** Which operations of the table there are of each endpoint, by what names them. */
const OPERATIONS = {
  run: ["post", "/services/{service}/{workflow}"],
  async: ["post", "/services/{service}/{workflow}/async"],
  stream: ["post", "/services/{service}/{workflow}/stream"],
  resume: ["post", "/services/{service}/{workflow}/resume/{execution_id}"],
  status: ["get", "/services/{service}/{workflow}/status/{execution_id}"],
} as const satisfies Partial<Record<keyof EndpointNames, readonly [string, string]>>;
type Kind = keyof typeof OPERATIONS;
const KINDS = Object.keys(OPERATIONS) as readonly Kind[];
/** Those whose body is the workflow's input. */
const STARTS: ReadonlySet<Kind> = new Set(["run", "async", "stream"]);

/** Of the path: in a service's document they are known. */
const FIXED: ReadonlySet<Json | undefined> = new Set(["service", "workflow"]);
const WHAT: Readonly<Record<string, string>> = {
  404: "There is no such service, workflow, version or execution.",
  422: "The input does not fit, or a parameter is wrong; `details.issues` names each.",
};

/** The table's own document, of these operations alone; made at the first use. */
let table: JsonObject | undefined;

/**
 * @param service With the endpoints that the caller may know.
 * @param options.isGuarded Whether callers need a token.
 */
export function serviceDocument(
  service: ResolvedService,
  { isGuarded }: { readonly isGuarded: boolean },
): JsonObject {
  const { services } = routes;
  table ??= openApiDocument({ services }, { title: "", version: "", server: "/" });
  const { components, paths: known } = table as { components: JsonObject; paths: JsonObject };
  const { securitySchemes } = components;
  const names = endpointNames(service.endpoints);
  const paths: JsonObject = {};
  const schemas: JsonObject = { ...(components["schemas"] as JsonObject) };
  for (const endpoint of service.endpoints) {
    const own = names.get(endpoint.ref);
    if (!own) continue;
    const types = typesOf(endpoint, own.run);
    Object.assign(schemas, types.schemas);
    for (const kind of KINDS) {
      const [method, row] = OPERATIONS[kind];
      const operation = (known[row] as JsonObject)[method] as JsonObject;
      const path = pathOf(service.name, endpoint, { row, kind });
      paths[path] = { [method]: ofEndpoint(operation, { kind, endpoint, name: own[kind], types }) };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: service.name,
      version: service.updated_at,
      ...(service.description !== null && { description: service.description }),
    },
    servers: [{ url: "/" }],
    security: isGuarded ? [{ bearer: [] }] : [],
    paths,
    components: {
      schemas: usedOf(schemas, paths),
      ...(isGuarded && securitySchemes && { securitySchemes }),
    },
    ...(service.collisions.length > 0 && {
      "x-engine-collisions": service.collisions.map(({ name, refs }) => ({ name, refs })),
    }),
  };
}

/** The schemas to which a part of the document leads, through others of them too. */
function usedOf(schemas: JsonObject, part: Json): JsonObject {
  const used = new Set<string>();
  const visit = (text: string) => {
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(JSON.stringify(schemas[name] ?? null));
    }
  };
  visit(JSON.stringify(part));
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** Schemas of a workflow's input and output: any JSON where it has none. */
interface Types {
  readonly input: JsonObject;
  readonly output: JsonObject;
  /** What of them stands among the components, by name. */
  readonly schemas: JsonObject;
}

function typesOf({ input_schema, output_schema }: ServiceEndpoint, name: string): Types {
  const schemas: JsonObject = {};
  const placed = (schema: JsonSchema | null, part: string): JsonObject => {
    if (schema === null) return {};
    const key = `${name}.${part}`;
    schemas[key] = placeSchema(schema, `/components/schemas/${key}`) as JsonObject;
    return { $ref: `#/components/schemas/${key}` };
  };
  const [input, output] = [placed(input_schema, "input"), placed(output_schema, "output")];
  return { input, output, schemas };
}

interface Use {
  readonly kind: Kind;
  readonly endpoint: ServiceEndpoint;
  readonly name: string;
  readonly types: Types;
}

function ofEndpoint(
  { parameters, responses, summary, "x-permission": permission, ...operation }: JsonObject,
  { kind, endpoint, name, types }: Use,
): JsonObject {
  const { ref, namespace, description } = endpoint;
  const refused = Object.entries(WHAT).map(([status, meaning]) => [status, errorOf(meaning)]);
  const isRun = kind === "run";
  return {
    ...operation,
    operationId: name,
    tags: [endpoint.name],
    summary: summary ?? ref,
    ...(STARTS.has(kind) && description !== null && { description }),
    "x-permission": String(permission)
      .replaceAll("{ns}", namespace)
      .replaceAll("{workflow}", endpoint.name),
    parameters: (parameters as JsonObject[]).filter((one) => !FIXED.has(one["name"])),
    ...(STARTS.has(kind) && {
      requestBody: { content: { "application/json": { schema: types.input } } },
    }),
    responses: {
      ...Object.fromEntries(refused),
      ...(responses as JsonObject),
      ...(isRun && { 200: outputOf(types.output) }),
    },
  };
}

/** What a run that has completed answers. */
function outputOf(schema: JsonObject): JsonObject {
  const detailed = "The output of the workflow; with `detailed=true` the execution with it.";
  return { description: detailed, content: { "application/json": { schema } } };
}

function errorOf(description: string): JsonObject {
  const schema = { $ref: "#/components/schemas/ErrorBody" };
  return { description, content: { "application/json": { schema } } };
}

/** A workflow called `mcp` is run with its mode (GW-9). */
function pathOf(
  service: string,
  { name, path }: ServiceEndpoint,
  { row, kind }: { readonly row: string; readonly kind: Kind },
): string {
  if (kind === "run") return path;
  return row.replace("{service}", service).replace("{workflow}", name);
}

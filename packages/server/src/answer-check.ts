/**
 * Whether answers are what the OpenAPI document says, for tests: of every server in this workspace,
 * and of the requests of `npm run fuzz`.
 */
import { openApiDocument, routes } from "@engine/contract";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** An answer as it came. */
export interface Answered {
  readonly method: string;
  /** As requested; a query does no harm. */
  readonly path: string;
  readonly status: number;
  /** Empty when there is none. */
  readonly type: string;
  /** The body; of a stream that was left early, the part that came. */
  readonly text: string;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, object> }>>;
  readonly "x-frames"?: Readonly<Record<string, object>>;
}

interface Row {
  readonly template: string;
  readonly pattern: RegExp;
  readonly operations: Readonly<Record<string, Operation>>;
}

const NAME = "document";
const ERROR = "#/components/schemas/ErrorBody";

/** Compares answers with the document of the route table. */
export class AnswerCheck {
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  readonly #rows: readonly Row[];
  readonly #fixed: ReadonlySet<string>;
  readonly #checks = new Map<string, ValidateFunction>();

  constructor() {
    const document = openApiDocument(routes, { title: "Engine", version: "0", server: "/" });
    this.#ajv.addSchema(document, NAME);
    const paths = document["paths"] as unknown as Record<string, Row["operations"]>;
    this.#rows = Object.entries(paths)
      .map(([template, operations]) => ({ template, pattern: patternOf(template), operations }))
      // Of two templates that fit, a router takes the one whose first segments are fixed.
      .sort((a, b) => (weightOf(a.template) < weightOf(b.template) ? -1 : 1));
    this.#fixed = new Set(this.#rows.map(({ template }) => template.split("/")[1] ?? ""));
  }

  /** Whether a path of the route table, such as `/executions/{id}`, is in the document. */
  knows(path: string): boolean {
    const template = path.replace("{mode}", "sync");
    return this.#rows.some((row) => row.template === template);
  }

  /** Says what does not fit; undefined when everything does. */
  misfit(answer: Answered): string | undefined {
    const { method, status, text } = answer;
    const path = answer.path.split("?", 1)[0] ?? "";
    const said = `${method} ${path.slice(0, 200)} answered ${status}`;
    if (method === "OPTIONS") return undefined;
    const asked = (method === "HEAD" ? "GET" : method).toLowerCase();
    const row = this.#rowOf(path, asked);
    const responses = row?.operations[asked]?.responses ?? {};
    const key = [`${status}`, `${String(status)[0]}XX`].find((each) => responses[each]);
    if (!row || key === undefined) {
      if (status < 400) return `${said}, which the document does not list`;
      return method === "HEAD" ? undefined : this.#json(said, ERROR, text);
    }
    if (method === "HEAD") return undefined;
    const at = `${pointer(row.template)}/${asked}`;
    const content = responses[key]?.content ?? {};
    const type = answer.type.split(";", 1)[0] ?? "";
    if (Object.keys(content).length === 0) {
      return text === "" ? undefined : `${said} with a body, where the document has none`;
    }
    // A refusal is JSON also where the result is not.
    if (content[type] === undefined) {
      if (status >= 400) return this.#json(said, ERROR, text);
      return `${said} as ${JSON.stringify(type)}; the document lists ${Object.keys(content)}`;
    }
    const operation = row.operations[asked];
    if (type === "text/event-stream") return this.#frames(said, at, operation, text);
    if (type === "application/x-ndjson") return this.#lines(said, at, text);
    if (type !== "application/json") return undefined;
    const schema = `${at}/responses/${key}/content/application~1json/schema`;
    return this.#json(said, schema, text);
  }

  #rowOf(path: string, method: string): Row | undefined {
    const isFixed = this.#fixed.has(path.split("/")[1] ?? "");
    return this.#rows.find(
      ({ template, pattern, operations }) =>
        operations[method] && pattern.test(path) && isFixed !== template.startsWith("/{"),
    );
  }

  #json(said: string, at: string, text: string): string | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return `${said} with what is no JSON: ${text.slice(0, 200)}`;
    }
    const check = this.#checks.get(at) ?? this.#ajv.compile({ $ref: `${NAME}${at}` });
    this.#checks.set(at, check);
    if (check(value)) return undefined;
    const why = this.#ajv.errorsText(check.errors, { dataVar: "body", separator: "; " });
    return `${said}, but ${why.slice(0, 600)}: ${JSON.stringify(value).slice(0, 600)}`;
  }

  #frames(
    said: string,
    at: string,
    operation: Operation | undefined,
    text: string,
  ): string | undefined {
    const names = Object.keys(operation?.["x-frames"] ?? {});
    // The block behind the last blank line has not come whole.
    for (const block of text.split("\n\n").slice(0, -1)) {
      // A regular expression would take a line separator within JSON for the end of a line.
      const lines = block.split("\n");
      const event = fieldsOf(lines, "event")[0];
      const data = fieldsOf(lines, "data").join("\n");
      if (event === undefined && data === "") continue;
      const name = names.find((each) => patternOf(each).test(event ?? ""));
      if (name === undefined) return `${said} with a frame that is not listed: ${event}`;
      const schema = `${at}/x-frames/${escaped(name)}`;
      const misfit = this.#json(`${said} with frame ${event}`, schema, data);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }

  #lines(said: string, at: string, text: string): string | undefined {
    for (const line of text.split("\n").slice(0, -1)) {
      const answered = this.#json(said, `${at}/x-lines`, line);
      if (answered !== undefined && this.#json(said, ERROR, line) !== undefined) return answered;
    }
    return undefined;
  }
}

function patternOf(template: string): RegExp {
  const parts = template
    .split(/\{\w+\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

/** Fixed segments first. */
function weightOf(template: string): string {
  return template
    .split("/")
    .map((segment) => (segment.startsWith("{") ? "1" : "0"))
    .join("");
}

/** The place of a path in the document. */
function pointer(template: string): string {
  return `#/paths/${escaped(template)}`;
}

/** A key as a reference has it: a JSON pointer inside a fragment. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function fieldsOf(lines: readonly string[], name: string): string[] {
  const own = lines.filter((line) => line.startsWith(`${name}:`));
  return own.map((line) => line.slice(name.length + 1).replace(/^ /, ""));
}

/**
 * How the configuration comes about: file, environment and flags are laid over each other key by key
 * and read as one. Only keys of {@link Config} count, so a table or key is known by its schema.
 */
import type * as z from "zod";
import { issueMessage } from "../errors/issue-message.ts";
import { nearest } from "../values/name.ts";
import { Config } from "./config.ts";

type Tree = { [key: string]: unknown };

/** Where a configuration comes from; later members win, key by key. */
export interface ConfigSources {
  /** The `[engine]` table of `engine.toml`. */
  readonly file?: unknown;
  /** Environment: `ENGINE_HOME`, `ENGINE_SERVER__PORT`; tables and lists as JSON. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Command-line flags, already in the shape of {@link Config}. */
  readonly flags?: unknown;
}

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** As a user would write it: `engine.server.port` or `ENGINE_SERVER__PORT`. */
  readonly key: string;
  readonly message: string;
}

/** The configuration, or everything that is wrong with it. Later sources win: file, env, flags. */
export function resolveConfig(
  sources: ConfigSources,
): { config: Config; problems?: undefined } | { config?: undefined; problems: ConfigProblem[] } {
  if (sources.file !== undefined && !isTree(sources.file)) {
    return { problems: [{ key: "engine", message: "expected a table" }] };
  }
  const merged = emptyTree();
  const names = new Map<string, string>();
  merge(merged, sources.file);
  for (const [name, text] of Object.entries(sources.env ?? {})) {
    const path = envPath(name);
    if (!path || text === undefined) continue;
    names.set(path.join("."), name);
    merge(
      merged,
      path.reduceRight<unknown>((value, key) => ({ [key]: value }), envValue(path, text)),
    );
  }
  merge(merged, sources.flags);

  const result = Config.safeParse(merged);
  if (result.success) return { config: result.data };
  return { problems: result.error.issues.flatMap((issue) => problemsOf(issue, names)) };
}

function problemsOf(issue: z.core.$ZodIssue, names: Map<string, string>): ConfigProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") {
    const key = names.get(path.join(".")) ?? ["engine", ...path].join(".");
    return [{ key, message: issueMessage(issue) }];
  }
  return issue.keys.map((key) => {
    const known = Object.keys(fieldsOf(schemaAt(path)) ?? {});
    const near = nearest(key, known);
    return {
      key: names.get([...path, key].join(".")) ?? ["engine", ...path, key].join("."),
      message: `unknown key${near ? `, did you mean "${near}"?` : `; known: ${known.join(", ")}`}`,
    };
  });
}

/** The schema of the table or key at a path. */
function schemaAt(path: readonly string[]): z.ZodType | undefined {
  let schema: z.ZodType | undefined = Config;
  for (const key of path) schema = fieldsOf(schema)?.[key];
  return schema;
}

function fieldsOf(schema: z.ZodType | undefined): Record<string, z.ZodType> | undefined {
  let inner: unknown = schema;
  while (inner && typeof inner === "object" && "unwrap" in inner) {
    inner = (inner as { unwrap(): unknown }).unwrap();
  }
  return inner && typeof inner === "object" && "shape" in inner
    ? (inner.shape as Record<string, z.ZodType>)
    : undefined;
}

/** Variables the engine reads that are not configuration keys. */
const OTHER_VARIABLES = new Set(["ENGINE_CONFIG", "ENGINE_AUTH_TOKEN", "ENGINE_CA_FILE"]);

function envPath(name: string): string[] | undefined {
  if (!name.startsWith("ENGINE_") || OTHER_VARIABLES.has(name)) return undefined;
  const path = name.slice("ENGINE_".length).toLowerCase().split("__");
  // Variables of other tools and later parts may share the prefix: only known tables are ours.
  const ours = path.length > 1 ? fieldsOf(schemaAt(path.slice(0, 1))) : schemaAt(path);
  return ours && path;
}

/** Text stays text where the key wants text; everything else is read as JSON if it is JSON. */
function envValue(path: readonly string[], text: string): unknown {
  if (schemaAt(path)?.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function merge(into: Tree, from: unknown): void {
  if (!isTree(from)) return;
  for (const [key, value] of Object.entries(from)) {
    if (value === undefined) continue;
    const current = into[key];
    if (isTree(value)) {
      const next: Tree = isTree(current) ? current : emptyTree();
      merge(next, value);
      into[key] = next;
    } else into[key] = value;
  }
}

/** Without a prototype: in it `__proto__` is a key like any other, and unknown. */
function emptyTree(): Tree {
  return Object.create(null) as Tree;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

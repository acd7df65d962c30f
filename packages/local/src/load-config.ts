import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import {
  type Config,
  EngineError,
  nearest,
  parseMetricsProvider,
  resolveConfig,
} from "@engine/contract";
import { parse, TomlError } from "smol-toml";

export interface ConfigPlaces {
  /** Folder of `engine.toml`; relative paths of the configuration start here too. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Command-line flags, in the shape of the `[engine]` table. */
  readonly flags?: unknown;
}

export interface LoadedConfig {
  /** With `home`, `storage.path`, and the workers' sockets and metrics provider absolute. */
  readonly config: Config;
  /** The file that was read; undefined when there is none. */
  readonly file: string | undefined;
}

/**
 * Reads the configuration as every process of the engine does (EXE-96): `engine.toml` in the
 * working directory or the file `ENGINE_CONFIG` names, then `ENGINE_*`, then flags; later wins.
 *
 * @throws EngineError `invalid_input`, one line per problem, each naming file and line or the key.
 */
export function loadConfig({ cwd, env, flags }: ConfigPlaces): LoadedConfig {
  const named = env["ENGINE_CONFIG"];
  const path = resolve(cwd, named || "engine.toml");
  const text = readText(path, named);
  const shown = relative(cwd, path).startsWith("..") ? path : relative(cwd, path);
  const file = text === undefined ? undefined : engineTable(text, shown);

  const { config, problems } = resolveConfig({ file, env, flags });
  if (problems) throw invalid(problems.map(({ key, message }) => `${key}: ${message}`));
  const resolved = withAbsolutePaths(config, cwd);
  return { config: resolved, file: text === undefined ? undefined : path };
}

function withAbsolutePaths({ home, storage, workers, ...rest }: Config, cwd: string): Config {
  const path = storage.path === undefined ? undefined : resolve(cwd, storage.path);
  const provider = parseMetricsProvider(workers.metrics_provider);
  const sockets = Object.entries(workers.services);
  return {
    ...rest,
    home: resolve(cwd, home),
    storage: path === undefined ? storage : { ...storage, path },
    workers: {
      ...workers,
      services: Object.fromEntries(sockets.map(([name, path]) => [name, resolve(cwd, path)])),
      ...(provider && {
        metrics_provider: `${resolve(cwd, provider.path)}#${provider.name}`,
      }),
    },
  };
}

function readText(path: string, named: string | undefined): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!named && code === "ENOENT") return undefined;
    const why = named ? "ENGINE_CONFIG names it; " : "";
    throw invalid([`${path} cannot be read (${why}${code ?? String(error)})`]);
  }
}

/** The `[engine]` table, which is all this file may hold. */
function engineTable(text: string, shown: string): unknown {
  let tables: Record<string, unknown>;
  try {
    tables = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ""] = error.message.split("\n");
    const why = first.replace(/^Invalid TOML document: /, "");
    throw invalid([`${shown}:${error.line}:${error.column}: ${why}`]);
  }
  const strange = Object.keys(tables).filter((key) => key !== "engine");
  if (strange.length) throw invalid(strange.map((key) => `${shown}: ${outside(key)}`));
  return tables["engine"];
}

function outside(key: string): string {
  return nearest(key, ["engine"])
    ? `unknown table "${key}", did you mean "engine"?`
    : `"${key}" stands outside the [engine] table; write it as [engine.${key}] or below [engine]`;
}

function invalid(problems: readonly string[]): EngineError {
  const issues = problems.map((message) => ({ path: "configuration", message }));
  return new EngineError("invalid_input", problems.join("\n"), { details: { issues } });
}

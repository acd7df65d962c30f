import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { EngineError } from "@engine/contract";
import type { BuildFailure } from "esbuild";
import type { CliIo } from "../io/cli-io.ts";
import { painter } from "../render/paint.ts";
import { problemText } from "../render/source-problem.ts";
import { columnOf } from "./bundle-workflow.ts";
import { isUserModule } from "./source-hooks.ts";
import { sourceLine, sourceText } from "./source-text.ts";

interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/** Why a workflow file cannot be imported: the place in the user's own source, and what to do. */
export function loadProblem(error: unknown, path: string, io: CliIo): string {
  const { message, place, advice } = explain(error, path);
  const at = place ?? { path, line: 1, column: 1 };
  const problem = { ...at, file: relative(io.cwd, at.path), message };
  return `${problemText(problem, place && sourceLine(at.path, at.line), painter(io.err, io.env))}${advice}\n`;
}

function explain(
  error: unknown,
  path: string,
): { message: string; place: Place | undefined; advice: string } {
  if (!(error instanceof Error)) {
    return { message: `threw ${String(error)}`, place: undefined, advice: THROWS };
  }
  const [failure] = (error as Partial<BuildFailure>).errors ?? [];
  if (failure) {
    const { location } = failure;
    const place = location && { path, line: location.line, column: columnOf(location) };
    return {
      message: failure.text,
      place: place ?? undefined,
      advice: "Correct the line and run it again.",
    };
  }
  const missing = /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/.exec(
    error.message.split("\n")[0] ?? "",
  );
  if (missing) return notFound(missing[1] ?? "", missing[2] ?? path);
  const unexported = /module '([^']+)' does not provide an export named '([^']+)'/.exec(
    error.message,
  );
  if (unexported) {
    const [, module = "", name = ""] = unexported;
    return {
      message: `${module} has no export named ${name}`,
      place: find(path, new RegExp(`["']${literal(module)}["']`)),
      advice: "Correct the import and run it again.",
    };
  }
  const place = frameOf(error);
  if (error instanceof EngineError) {
    return { message: error.message, place, advice: "Correct the definition and run it again." };
  }
  return { message: `${error.name}: ${error.message}`, place, advice: THROWS };
}

const THROWS =
  "It throws while it is imported; a workflow file should only define workflows and tasks.";

function notFound(module: string, importer: string) {
  const from = importer.startsWith("file:") ? fileURLToPath(importer) : importer;
  const isPackage = !module.startsWith("/") && !module.startsWith("file:");
  const name = isPackage ? module : (module.split("/").at(-1) ?? module);
  return {
    message: isPackage
      ? `package ${module} is not installed`
      : `${relative(from, module)} does not exist`.replace(/^\.\.\//, "./"),
    place: find(from, new RegExp(`["'][^"']*${literal(name)}["']`)),
    advice: isPackage
      ? `Install it with: npm install ${module}`
      : "Correct the path and run it again.",
  };
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function find(path: string, pattern: RegExp): Place | undefined {
  const lines = sourceText(path)?.split(/\r?\n/) ?? [];
  const at = lines.findIndex((line) => pattern.test(line));
  if (at < 0) return undefined;
  return { path, line: at + 1, column: (lines[at]?.search(pattern) ?? 0) + 1 };
}

/** The innermost frame of an error that lies in the user's own files. */
function frameOf(error: Error): Place | undefined {
  for (const frame of error.stack?.split("\n") ?? []) {
    const match = /\(?((?:file:\/\/)?\/[^()]+?):(\d+):(\d+)\)?$/.exec(
      frame.trim().replace(/^at /, ""),
    );
    if (!match) continue;
    const url = match[1]?.startsWith("file:") ? match[1] : `file://${match[1]}`;
    if (isUserModule(url)) {
      return { path: fileURLToPath(url), line: Number(match[2]), column: Number(match[3]) };
    }
  }
  return undefined;
}

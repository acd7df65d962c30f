import { resolve } from "node:path";
import {
  EngineError,
  parsePackageRequest,
  type Registered,
  type SourceFile,
  type SourceIssue,
} from "@engine/contract";
import type { SourceProblem } from "../render/source-problem.ts";
import type { ServerCall } from "../server-call.ts";
import { type Bundled, bundleWorkflow, type WorkflowBundle } from "./bundle-workflow.ts";

export type RegisterOutcome = {
  /** Why it was refused, or warnings; `file` is an absolute path. */
  readonly problems: readonly SourceProblem[];
  /** What decides the outcome, as `Bundled` has it. */
  readonly inputs: readonly string[];
} & (
  | { readonly registered: Registered; readonly bundle: string }
  /** The file was refused. */
  | { readonly registered?: undefined }
);

/** Bundles and registers one file, given by its absolute path. */
export async function registerFile(
  path: string,
  client: ServerCall["client"],
  dryRun = false,
): Promise<RegisterOutcome> {
  // What is requested stays out of the bundle (EXE-59), and only the server reads sources. So it is
  // asked first, with a bundle for which no package need be installed here.
  const draft = await bundleWorkflow(path, "every package");
  if (draft.problems) return draft;
  let requested: readonly string[] = [];
  if (mayRequestPackages(draft.bundle.files)) {
    const asked = await send(draft, client, true);
    if (!asked.registered) return asked;
    requested = requestedPackages(asked.registered.items);
  }
  const bundled = await bundleWorkflow(path, requested);
  return bundled.problems ? bundled : send(bundled, client, dryRun);
}

/** Whether workflows of these files may request packages: the option cannot be set without its name. */
function mayRequestPackages(files: readonly SourceFile[]): boolean {
  return files.some(({ source }) => /\bpackages\b/.test(source));
}

/** The packages that any of the workflows of a file requests: all of them run from one bundle. */
function requestedPackages(workflows: Registered["items"]): readonly string[] {
  const requested = workflows.flatMap(({ requests }) => requests?.packages ?? []);
  const names = requested.flatMap((text) => parsePackageRequest(text)?.name ?? []);
  return [...new Set(names)].sort();
}

async function send(
  { bundle: { root, ...body }, inputs }: Bundled & { bundle: WorkflowBundle },
  client: ServerCall["client"],
  dryRun: boolean,
): Promise<RegisterOutcome> {
  try {
    const query = dryRun ? { dry_run: "true" as const } : {};
    const { body: registered } = await client.catalog.register({ query, body });
    const warnings = registered.warnings.map((warning) => problemOf(warning, root, true));
    return { registered, problems: warnings, inputs, bundle: body.bundle };
  } catch (error) {
    const issues = error instanceof EngineError && error.details?.["issues"];
    if (!Array.isArray(issues) || !issues.every(isSourceIssue)) throw error;
    const refused = issues.map((issue) => problemOf(issue, root));
    return { problems: refused, inputs };
  }
}

function isSourceIssue(issue: unknown): issue is SourceIssue {
  return typeof issue === "object" && issue !== null && "rule" in issue && "line" in issue;
}

function problemOf(issue: SourceIssue, root: WorkflowBundle["root"], warns = false): SourceProblem {
  const { file, line, column, message } = issue;
  const rule = warns ? `warning ${issue.rule}` : issue.rule;
  return { file: resolve(root, file), line, column, rule, message };
}

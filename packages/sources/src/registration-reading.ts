import type { ExtractedWorkflow, Registration, SourceFile, SourceIssue } from "@engine/contract";
import { transpile } from "./bundle.ts";
import { contentHash, sha256 } from "./content-hash.ts";
import { SOURCE_FILE } from "./modules/source-issues.ts";
import { readSource } from "./modules/source-reading.ts";
import type { DeclaredLimit } from "./workflows/declared-limits.ts";
import type { DeclaredSecret } from "./workflows/declared-secrets.ts";
import { extractWorkflows } from "./workflows/extract.ts";

/** What the files of a registration say; `workflows` is empty when there are issues. */
export interface RegistrationRead {
  readonly workflows: readonly {
    readonly extracted: ExtractedWorkflow;
    readonly content_hash: string;
  }[];
  readonly module: { readonly hash: string; readonly bundle: string };
  readonly files: readonly SourceFile[];
  readonly source_hash: string;
  readonly issues: readonly SourceIssue[];
  readonly warnings: SourceIssue[];
  /** What is declared of secrets, each with what is said where there is none of its name. */
  readonly secrets: readonly DeclaredSecret[];
  /** The same of limits that operators set. */
  readonly limits: readonly DeclaredLimit[];
}

export type ReadRegistration = (registration: Registration) => Promise<RegistrationRead>;

/** Reads the files of a registration, without running any of them (EXE-60). */
export async function readRegistration(registration: Registration): Promise<RegistrationRead> {
  const { entry, files, bundle, issues: unbundled, read } = await bundled(registration);
  const extraction = extractWorkflows({ entry, files, read });
  const { workflows, issues, warnings, secrets, limits } = extraction;
  const all = bothOnce(issues, unbundled);
  const hash = sha256(bundle);
  return {
    workflows:
      all.length > 0
        ? []
        : workflows.map((extracted) => ({ extracted, content_hash: contentHash(hash, extracted) })),
    module: { hash, bundle },
    files,
    source_hash: sha256(files.find(({ path }) => path === entry)?.source ?? ""),
    issues: all,
    warnings,
    secrets,
    limits,
  };
}

async function bundled(registration: Registration) {
  if (!("source" in registration)) return { ...registration, issues: [], read: readSource };
  const { source } = registration;
  const files = [{ path: SOURCE_FILE, source }];
  const read = readSource(SOURCE_FILE, source);
  return { entry: SOURCE_FILE, files, read: () => read, ...(await transpile(source, read)) };
}

/** Both readers of a single source find its syntax errors; one place is told once, in order. */
function bothOnce(a: readonly SourceIssue[], b: readonly SourceIssue[]): readonly SourceIssue[] {
  const place = ({ rule, file, line, column }: SourceIssue) => `${rule} ${file}:${line}:${column}`;
  const places = new Set(a.map(place));
  const others = b.filter((issue) => !places.has(place(issue)));
  if (others.length === 0) return a;
  return [...a, ...others].sort((x, y) => x.line - y.line || x.column - y.column);
}

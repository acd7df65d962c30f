import { EngineError, type Registration } from "@engine/contract";
import { JobProcess } from "./jobs/job-process.ts";
import { fileIssue, SOURCE_FILE } from "./modules/source-issues.ts";
import type { ReadRegistration, RegistrationRead } from "./registration-reading.ts";

export interface SourceLimits {
  readonly memoryMb: number;
  readonly limitMs: number;
  /** Characters that may wait to be read. */
  readonly waiting: number;
}

const LIMITS: SourceLimits = { memoryMb: 1_024, limitMs: 30_000, waiting: 64 * 1024 * 1024 };

const fromSources = import.meta.url.endsWith(".ts");
const program = new URL(
  fromSources ? "./source-process-main.ts" : "./source-process-main.js",
  import.meta.url,
);

/** Reads registrations in a process of its own, since a large source takes seconds and an evil one longer. */
export function sourceReader({ memoryMb, limitMs, waiting }: SourceLimits): ReadRegistration {
  const jobs = new JobProcess<Registration, RegistrationRead>({
    program,
    memoryMb,
    limitMs,
    idleMs: 60_000,
  });
  let open = 0;
  return async (registration) => {
    const size = sizeOf(registration);
    if (open > 0 && open + size > waiting) {
      const message = "too many sources wait to be read; register this one again in a moment";
      throw new EngineError("unavailable", message);
    }
    open += size;
    try {
      const outcome = await jobs.run(registration);
      if (outcome.kind === "spent") return refused(registration, outcome.of, { memoryMb, limitMs });
      const { answer } = outcome;
      if ("source" in registration) return answer;
      const { files, bundle } = registration;
      return { ...answer, files, module: { ...answer.module, bundle } };
    } finally {
      open -= size;
    }
  };
}

/** The reader that all registrations of a server share. */
export const readInProcess: ReadRegistration = sourceReader(LIMITS);

function sizeOf(registration: Registration): number {
  if ("source" in registration) return registration.source.length;
  const { files, bundle } = registration;
  return files.reduce((size, { source }) => size + source.length, bundle.length);
}

function refused(
  registration: Registration,
  of: "time" | "memory",
  { memoryMb, limitMs }: Omit<SourceLimits, "waiting">,
): RegistrationRead {
  const limit = of === "time" ? `${limitMs / 1000} s` : `${memoryMb} MiB of memory`;
  const issue = fileIssue({
    rule: "too_intricate",
    message: `the files need more than the ${limit} that the server gives to read them; register fewer workflows with one file`,
    file: "source" in registration ? SOURCE_FILE : registration.entry,
  });
  const module = { hash: "", bundle: "" };
  return {
    workflows: [],
    module,
    files: [],
    source_hash: "",
    issues: [issue],
    warnings: [],
    secrets: [],
    limits: [],
  };
}

import type { Commit, Evidence } from "../evidence.ts";
import { wantsOfRow } from "./seen-workers.ts";
import type { Violation } from "./violation.ts";

/**
 * I15: what cannot be placed for want of an input fails in the commit that creates it, which names the
 * input unless that is a secret of its start; and nothing fails for it that could be placed.
 */
export function resolutions(evidence: Evidence): readonly Violation[] {
  return evidence.commits.flatMap((commit): Violation[] => {
    const message = wrong(commit, evidence);
    if (message === undefined) return [];
    return [{ invariant: "I15", execution_id: commit.execution_id, message }];
  });
}

function wrong({ row, events, at }: Commit, evidence: Evidence): string | undefined {
  const isCreation = events.some(({ type }) => type === "WORKFLOW_CREATED");
  const failed = row.failure?.type === "AffinityResolutionError" ? row.failure : undefined;
  if (!isCreation && !failed) return undefined;
  const wants = wantsOfRow(row, evidence);
  const missing = wants && "missing" in wants ? wants.missing : undefined;
  if (missing === undefined) {
    const isKnown = evidence.executions.some((one) => one.row.execution_id === row.execution_id);
    if (!failed || !isKnown) return undefined;
    return `at ${at} it failed with "${failed.message}", and it has every input that is asked for`;
  }
  if (!isCreation) return undefined;
  const what = missing === null ? "routing input" : `input ${missing}`;
  if (!failed || row.state !== "FAILED") {
    return `it was created at ${at} without ${what}, and is ${row.state}`;
  }
  const { message } = failed;
  const isSaid =
    missing === null ? message === "routing constraint unsatisfied" : message.includes(missing);
  return isSaid ? undefined : `it lacks ${what}, and failed at ${at} with "${message}"`;
}

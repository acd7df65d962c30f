import { isDeepStrictEqual } from "node:util";
import { decode } from "@engine/contract";
import type { Asked, ClientRequest, Commit, Evidence } from "../evidence.ts";
import { countsOf, STRICT } from "../programs/counts.ts";
import { type Bucket, bucketsOf, takenDuring } from "./places.ts";
import { storedForm } from "./recorded-calls.ts";
import type { Violation } from "./violation.ts";

const REFUSAL = "concurrency_limited";

/**
 * I16, where a workflow refuses what would wait: nothing is created while all places are taken, nothing
 * is refused while there is one, and what is refused leaves nothing.
 */
export function refusedStarts(evidence: Evidence): readonly Violation[] {
  const bucket = bucketsOf(evidence).find(({ counts }) => counts.bucket === STRICT.bucket);
  const refused = evidence.requests.filter(
    ({ answer }) => answer.kind === "refused" && answer.code === REFUSAL,
  );
  return [
    ...(bucket ? createdInVain(bucket) : []),
    ...refused.flatMap((request) => refusedInVain(request, bucket, evidence)),
    ...leftBehind(refused, evidence),
  ];
}

function createdInVain({ executions, places }: Bucket): readonly Violation[] {
  return executions.flatMap(([created]): Violation[] => {
    if (!created || !isCreation(created)) return [];
    const others = takenDuring(created, places);
    if (others.length < most()) return [];
    const { execution_id, at } = created;
    const message = `it was created at ${at}, when ${others.length} of ${most()} places were taken, and was to be refused`;
    return [{ invariant: "I16", execution_id, message }];
  });
}

function isCreation({ events }: Commit): boolean {
  return events.some(({ type }) => type === "WORKFLOW_CREATED");
}

/** By the places that anybody had at any moment between the question and the answer. */
function refusedInVain(
  { asked, asked_at, answered_at, client }: ClientRequest,
  bucket: Bucket | undefined,
  evidence: Evidence,
): readonly Violation[] {
  const workflow = workflowOf(asked, evidence);
  // What retention has deleted nobody can say anything of.
  if (workflow === undefined || answered_at === null) return [];
  const what = `${asked.kind} of ${workflow} by ${client} at ${asked_at}`;
  const say = (message: string): Violation[] => [
    {
      invariant: "I16",
      execution_id: null,
      message: `${what} was refused for want of a place${message}`,
    },
  ];
  if (!countsOf(workflow, undefined).some(({ isStrict }) => isStrict)) {
    return say(", which it was to wait for");
  }
  const taken = (bucket?.places ?? []).filter(
    (place) =>
      place.taken.at <= answered_at && (place.back === undefined || place.back.at >= asked_at),
  );
  if (taken.length >= most()) return [];
  return say(`, and until ${answered_at} no more than ${taken.length} of ${most()} were taken`);
}

function workflowOf(asked: Asked, { executions }: Evidence): string | undefined {
  if (asked.kind === "start") return asked.workflow;
  if (asked.kind !== "fork") return undefined;
  return executions.find(({ row }) => row.execution_id === asked.execution_id)?.row.workflow;
}

/** A request that nobody heard an answer to may have come behind the one that was refused. */
function leftBehind(refused: readonly ClientRequest[], evidence: Evidence): readonly Violation[] {
  const starts = evidence.requests.map(({ asked, answer }) => ({ asked, answer }));
  return refused.flatMap(({ asked, client }): Violation[] => {
    if (asked.kind !== "start") return [];
    const { workflow, input } = asked;
    const isSame = (other: Asked) =>
      other.kind === "start" &&
      other.workflow === workflow &&
      isDeepStrictEqual(other.input, input);
    if (starts.some((one) => one.answer.kind !== "refused" && isSame(one.asked))) return [];
    const left = evidence.executions.find(
      ({ row }) =>
        row.workflow === workflow &&
        row.forked_from === null &&
        row.schedule === null &&
        isDeepStrictEqual(decode(storedForm(row.input, evidence)), input),
    );
    if (!left) return [];
    const { execution_id } = left.row;
    const message = `${client} was refused to start it for want of a place, and there it is`;
    return [{ invariant: "I16", execution_id, message }];
  });
}

function most(): number {
  return STRICT.most ?? 0;
}

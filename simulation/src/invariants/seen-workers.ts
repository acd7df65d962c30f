/** What workers were when something happened, by what the store was told of them and when. */
import type { ExecutionRow } from "@engine/contract";
import type { SessionRow } from "@engine/store";
import type { Commit, Evidence, WorkerDescribed } from "../evidence.ts";
import { type Wants, type WorkerSeen, wantsOf } from "../programs/wants.ts";
import { inputOf } from "./inputs.ts";

/** What an execution wants of its worker. Undefined: its workflow asks for nothing. */
export function wantsOfRow(
  { execution_id, workflow, forked_from }: ExecutionRow,
  evidence: Evidence,
): Wants | undefined {
  const input = inputOf(execution_id, evidence);
  return input && wantsOf(workflow, input, { isFork: forked_from !== null });
}

/**
 * What a session's worker may have been for a transaction: more than one thing only where operators wrote
 * in the same moment.
 */
export function seenBy(
  { span }: Pick<Commit, "span">,
  { worker, labels, services }: SessionRow,
  descriptions: readonly WorkerDescribed[],
): readonly WorkerSeen[] {
  const own = descriptions.filter((one) => one.worker === worker);
  own.sort((a, b) => a.revision - b.revision);
  const nothing = { metadata: {}, granted: [], span: { began: 0, settled: 0 } };
  const states = [nothing, ...own];
  return states
    .filter((state, i) => {
      const next = states[i + 1];
      const isOver = next !== undefined && next.span.settled < span.began;
      return state.span.began <= span.settled && !isOver;
    })
    .map(({ metadata, granted }) => ({
      worker,
      metadata,
      labels: withServices(labels, services, granted),
    }));
}

/** The labels of a worker with one for each service that it has and was granted. */
export function withServices(
  labels: Readonly<Record<string, string>>,
  services: readonly string[],
  granted: readonly string[],
): Readonly<Record<string, string>> {
  const held = services.filter((service) => granted.includes(service));
  return {
    ...labels,
    ...Object.fromEntries(held.map((service) => [`engine.service.${service}`, "true"])),
  };
}

import { isDeepStrictEqual } from "node:util";
import type { BodyEntry, Evidence } from "../evidence.ts";
import { undisturbed } from "./engine-ends.ts";
import { type Excuse, uncounted } from "./excuses.ts";
import type { Replays } from "./replays.ts";
import type { Violation } from "./violation.ts";

/**
 * I9: what a task was told stays true. Its function may have done something with it out there, so that
 * the log, replayed, has to tell the same call the same: clock, randomness, and all that came before.
 */
export function toldTraces(
  evidence: Evidence,
  replays: Replays,
  excuse: Excuse = uncounted,
): readonly Violation[] {
  const entries = Map.groupBy(evidence.bodies, ({ execution_id }) => execution_id);
  const ofItself = new Set(undisturbed(evidence));
  return evidence.executions.flatMap(({ row }) => {
    const { execution_id } = row;
    const replay = replays.get(execution_id);
    // That it does not replay is said elsewhere.
    if (replay?.problem !== undefined) return [];
    const told = new Map(replay?.tellings.map((telling) => [telling.path, telling.told]));
    const messages = new Set<string>();
    for (const entry of entries.get(execution_id) ?? []) {
      if (!entry.told) continue;
      const final = told.get(entry.path);
      if (!final) {
        if (!ofItself.has(row) && excuse("told, and then ended from outside")) continue;
        messages.add(`${place(entry)} was told something, and its log comes to no such call`);
      } else if (!isDeepStrictEqual(final, entry.told)) {
        messages.add(
          `${place(entry)} was told ${JSON.stringify(entry.told)}; its log tells ${JSON.stringify(final)}`,
        );
      }
    }
    return [...messages].map((message) => ({ invariant: "I9" as const, execution_id, message }));
  });
}

function place({ task_call_id, path, process, generation }: BodyEntry): string {
  return `${task_call_id} at ${path}, in ${process} under generation ${generation},`;
}

import { isDeepStrictEqual } from "node:util";
import {
  type CallKind,
  decode,
  type Encoded,
  type Event,
  encode,
  parseEventTime,
} from "@engine/contract";
import type { Evidence, ExecutionAtRest, ValueSeen } from "../evidence.ts";
import type { Excuse } from "./excuses.ts";
import { callsOf, claimsOf } from "./recorded-calls.ts";

const TAKEN: ReadonlySet<CallKind> = new Set(["now", "random", "uuid"]);

/**
 * Values of the real world that code saw: of those that lasted there is one. Code runs ahead of its
 * log (decision 0018), and what it saw there may be lost, with its worker or because something else
 * was recorded first; nothing follows from such a value, and the next one is another.
 */
export function recordedValues(
  sights: readonly ValueSeen[],
  execution: ExecutionAtRest,
  { evidence, excuse }: { readonly evidence: Evidence; readonly excuse: Excuse },
): string[] {
  const places = Map.groupBy(sights, ({ path }) => path);
  const held = heldBy(execution);
  return [...places.values()].flatMap((seen) => {
    // Four calls took them; the world of a workflow has three that are no calls.
    const values = decode(seen[0]?.value ?? null) as unknown[];
    if (values.length === 4) return taken(seen, { execution, held, excuse });
    return ofWorld(seen, { execution, evidence, excuse });
  });
}

/** The outcomes of calls for such values that the log holds. */
function heldBy(execution: ExecutionAtRest): readonly Encoded[] {
  return [...callsOf(execution).values()].flatMap(({ kind, outcome }) =>
    TAKEN.has(kind) && outcome?.type === "TASK_COMPLETED" ? [outcome.value] : [],
  );
}

function taken(
  seen: readonly ValueSeen[],
  {
    execution,
    held,
    excuse,
  }: {
    readonly execution: ExecutionAtRest;
    readonly held: readonly Encoded[];
    readonly excuse: Excuse;
  },
): string[] {
  const isHeld = ({ value }: ValueSeen) =>
    (decode(value) as unknown[]).every((part) => {
      const stored = encode(part, "value");
      return held.some((other) => isDeepStrictEqual(other, stored));
    });
  const kept = seen.filter((one) => isHeld(one) || !excuse("value that no log holds"));
  const [first] = kept;
  if (!first) {
    // Whoever completed it has recorded all that its code saw.
    const last = seen.at(-1);
    const claim = claimsOf(execution).at(-1);
    const isOfTheEnd =
      execution.row.state === "COMPLETED" && last?.generation === claim?.generation;
    return last && isOfTheEnd ? [`${told(last)}, and the log does not hold it`] : [];
  }
  const behind = seen.slice(seen.indexOf(first) + 1);
  return behind
    .filter(({ value }) => !isDeepStrictEqual(value, first.value))
    .filter(({ generation }) => {
      return generation >= first.generation || !excuse("seen by a copy that was given up");
    })
    .map((other) => `${told(first)}, and ${told(other)}`);
}

/**
 * What the seed gives, and the clock that the log is: bound where the log holds something that the
 * copy wrote behind the event whose time its code read. What it saw ahead of that is lost with it.
 */
function ofWorld(
  seen: readonly ValueSeen[],
  {
    execution,
    evidence,
    excuse,
  }: {
    readonly execution: ExecutionAtRest;
    readonly evidence: Evidence;
    readonly excuse: Excuse;
  },
): string[] {
  const { log } = execution;
  const copies = Map.groupBy(seen, ({ process, generation }) => `${process} ${generation}`);
  const lasting = [...copies.values()].flatMap((own) => own.slice(-1));
  const first = lasting.find(isBound);
  if (!first) return [];
  return lasting
    .filter(({ value }) => !isDeepStrictEqual(value, first.value))
    .filter((other) => isBound(other) || !excuse("value that no log holds"))
    .map((other) => `${told(first)}, and ${told(other)}`);

  function isBound({ execution_id, generation, value }: ValueSeen): boolean {
    const clock = (decode(value) as unknown[])[2] as number;
    const isOwn = ({ seq }: Event) =>
      evidence.writes.some(
        (write) =>
          write.kind === "checkpoint" &&
          write.accepted &&
          write.execution_id === execution_id &&
          write.generation === generation &&
          seq > write.base_seq &&
          seq <= write.base_seq + write.count,
      );
    // Of what was written in the same millisecond nothing says whether the clock was read behind it, or
    // behind something later that was lost; the traces that tasks were told are judged for that.
    return log.some(
      ({ event }) => isOwn(event) && isOfCode(event) && parseEventTime(event.time) > clock,
    );
  }
}

/**
 * Whether the code of the workflow wrote it. What became of a task is written by itself, and again with a
 * later time where something else was recorded first: code that had gone on behind it is lost then.
 */
function isOfCode({ type, kind }: Event): boolean {
  return kind !== null || !type.startsWith("TASK_") || type === "TASK_STARTED";
}

function told({ path, value, process, generation }: ValueSeen): string {
  return `recorded ${path} was ${JSON.stringify(value)} in ${process} under generation ${generation}`;
}

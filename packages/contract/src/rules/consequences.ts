/**
 * What a change does to other executions. Every store asks here, on a database or in memory: all of
 * it is worked out before anything is written, so that a decision that refuses leaves nothing to undo.
 */
import { EngineError } from "../errors/errors.ts";
import type { Failure } from "../errors/failure.ts";
import { type ExecutionPatch, type ExecutionRow, patched } from "../executions/execution-row.ts";
import type { SignalStep } from "../executions/kept-signals.ts";
import type { NewExecution } from "../executions/new-execution.ts";
import type { NewEvent } from "../log/event.ts";
import type { Change, Effect } from "./change.ts";
import { type Claimant, createdExecution, decideClaim } from "./lifecycle-rules.ts";

/** Far more than any change has: a chain of effects that never ends is a bug. */
const MAX_EFFECTS = 100_000;

/** The rows that effects read, as they are before the change. */
export interface EffectSource {
  readonly find: (execution_id: string) => ExecutionRow | undefined;
  /** Oldest first, which is the order of their ids. */
  readonly children: (parent_id: string) => readonly ExecutionRow[];
  /** Why a child cannot be: its workflow has no free place and refuses what would wait (FLW-1). */
  readonly refuses?: (fresh: NewExecution) => Failure | undefined;
}

/** An execution that a change touches: as it is stored, and as it is to be. */
export interface Touched {
  /** Undefined for one that the change creates. */
  readonly stored: ExecutionRow | undefined;
  readonly row: ExecutionRow;
  /** What `row` differs by from `stored`. */
  readonly patch: ExecutionPatch;
  readonly events: readonly NewEvent[];
  /** Steps of its kept signals, in order. */
  readonly signals: readonly SignalStep[];
}

/** An execution before its first change. */
export function untouched(row: ExecutionRow): Touched {
  return { stored: row, row, patch: NO_PATCH, events: [], signals: NO_STEPS };
}

const NO_PATCH: ExecutionPatch = {};
export const NO_EFFECTS: readonly Effect[] = [];
const NO_STEPS: readonly SignalStep[] = [];

/** @throws Error If the change sets another head than the one at which its events end. */
export function touch(touched: Touched, change: Change): Touched {
  const { stored, row, patch, events, signals } = touched;
  const head = row.head + change.events.length;
  if ((change.patch.head ?? head) !== head) {
    throw new Error(`a decision set head ${change.patch.head}, its events end at ${head}`);
  }
  const more = change.patch.head === head ? change.patch : { ...change.patch, head };
  return {
    stored,
    row: patched(row, more),
    patch: patch === NO_PATCH ? more : { ...patch, ...more },
    events: events.length === 0 ? change.events : [...events, ...change.events],
    signals: change.signals ? [...signals, ...change.signals] : signals,
  };
}

/** A new execution, claimed at once if there is a claimant, with the effects it has on others. */
export function creation(
  fresh: NewExecution,
  claimant: Claimant | undefined,
): { readonly created: Touched; readonly isClaimed: boolean; readonly effects: readonly Effect[] } {
  const { row, events, effects = NO_EFFECTS, signals = NO_STEPS } = createdExecution(fresh);
  const created: Touched = { stored: undefined, row, patch: NO_PATCH, events, signals };
  const claim = claimant && decideClaim(row, claimant);
  if (!claim) return { created, isClaimed: false, effects };
  const all = claim.effects ? [...effects, ...claim.effects] : effects;
  return { created: touch(created, claim), isClaimed: true, effects: all };
}

/**
 * Follows the effects of a change, and the effects that those have, breadth first. An execution that
 * is changed several times is touched once.
 *
 * @param first The execution that the change itself is about, with the change applied.
 * @returns Every execution to write, `first` at the head, the others as they were first changed.
 */
export function consequencesOf(
  first: Touched,
  effects: readonly Effect[],
  source: EffectSource,
): readonly Touched[] {
  if (effects.length === 0) return [first];
  const touched = new Map([[first.row.execution_id, first]]);
  const queue = [...effects];

  const apply = (row: ExecutionRow | undefined, change: Change | undefined) => {
    if (!change) return;
    if (row && (change.events.length > 0 || Object.keys(change.patch).length > 0)) {
      const { execution_id } = row;
      touched.set(execution_id, touch(touched.get(execution_id) ?? untouched(row), change));
    }
    for (const effect of change.effects ?? []) queue.push(effect);
  };

  for (let i = 0; i < queue.length; i++) {
    if (i === MAX_EFFECTS) throw new Error(`a change has more than ${MAX_EFFECTS} effects`);
    const effect = queue[i] as Effect;
    switch (effect.kind) {
      case "create": {
        // An execution with that key would have to be the answer, and only a caller can be given one.
        if (effect.fresh.unique) throw new Error("an effect cannot create under a unique key");
        const failure = source.refuses?.(effect.fresh);
        const fresh = failure ? { ...effect.fresh, unplaceable: failure } : effect.fresh;
        const { created, effects: more } = creation(fresh, undefined);
        const { execution_id } = created.row;
        if (touched.has(execution_id)) throw idTaken(execution_id);
        touched.set(execution_id, created);
        for (const one of more) queue.push(one);
        break;
      }
      case "change": {
        const row = touched.get(effect.execution_id)?.row ?? source.find(effect.execution_id);
        apply(row, effect.decide(row));
        break;
      }
      case "children":
        for (const row of childrenOf(effect.parent_id, touched, source)) {
          apply(row, effect.decide(row));
        }
        break;
    }
  }
  return [...touched.values()];
}

/** Stored children as the change has left them so far, and the children it has created. */
function childrenOf(
  parent_id: string,
  touched: ReadonlyMap<string, Touched>,
  source: EffectSource,
): readonly ExecutionRow[] {
  const stored = source.children(parent_id).map((row) => touched.get(row.execution_id)?.row ?? row);
  const created = [...touched.values()]
    .filter((one) => one.stored === undefined && one.row.parent_id === parent_id)
    .map(({ row }) => row);
  if (created.length === 0) return stored;
  return [...stored, ...created].sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1));
}

/** A new execution cannot have the id of another one. */
export function idTaken(execution_id: string): EngineError {
  return new EngineError("conflict", `an execution ${execution_id} exists already`);
}

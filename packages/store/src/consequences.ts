import {
  type Change,
  type Claimant,
  createdExecution,
  decideClaim,
  type Effect,
  EngineError,
  type ExecutionPatch,
  type ExecutionRow,
  type NewEvent,
  type NewExecution,
  patched,
  type SignalStep,
} from "@engine/contract";

/** Far more than any change has: a chain of effects that never ends is a bug. */
const MAX_EFFECTS = 100_000;

/** What effects read of the store. */
export interface EffectSource {
  readonly find: (execution_id: string) => ExecutionRow | undefined;
  /** Oldest first, which is the order of their ids. */
  readonly children: (parent_id: string) => readonly ExecutionRow[];
}

/** An execution that a change comes to: as it is stored, and as it is to be. */
export interface Touched {
  /** Undefined for one that the change creates. */
  readonly stored: ExecutionRow | undefined;
  readonly row: ExecutionRow;
  /** What `row` differs by from `stored`. */
  readonly patch: ExecutionPatch;
  readonly events: readonly NewEvent[];
  /** What becomes of its kept signals. */
  readonly signals: readonly SignalStep[];
}

export function untouched(row: ExecutionRow): Touched {
  return { stored: row, row, patch: NO_PATCH, events: [], signals: NO_STEPS };
}

const NO_PATCH: ExecutionPatch = {};
export const NO_EFFECTS: readonly Effect[] = [];
const NO_STEPS: readonly SignalStep[] = [];

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

/**
 * A new execution, in the hands of the claimant at once if there is one.
 *
 * @returns It, whether it was claimed, and what it does to others.
 */
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
 * What a change comes to with its effects and theirs, breadth first. All of it is worked out before
 * anything is written: a decision that refuses leaves nothing to undo, and an execution that is
 * changed several times is written once.
 *
 * @param first The execution that the change itself is about, with the change applied.
 * @returns Every execution to write, `first` at the head, the others as they were first changed.
 */
export function consequencesOf(
  first: Touched,
  effects: readonly Effect[],
  source: EffectSource,
): readonly Touched[] {
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
        // Whoever has the key already would have to take its place: only a caller can be told that.
        if (effect.fresh.unique) throw new Error("an effect cannot create under a unique key");
        const { created, effects: more } = creation(effect.fresh, undefined);
        const { execution_id } = created.row;
        if (touched.has(execution_id)) throw taken(execution_id);
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

/** Stored ones as they are by now, and those that were created meanwhile. */
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

/** The id of a new execution is that of another one. */
export function taken(execution_id: string): EngineError {
  return new EngineError("conflict", `an execution ${execution_id} exists already`);
}

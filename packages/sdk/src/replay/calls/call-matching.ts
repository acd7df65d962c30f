/** Finds the calls that the code makes in the log, by their ids and by the order they are made in. */
import type { Core } from "../core.ts";
import { hasLabel, nondeterminism, recordedRef } from "../log/divergence.ts";
import { isSameInput, type RecordedCall } from "../log/journal.ts";
import type { Call, Scope } from "./call.ts";
import type { LeafSpec } from "./waits.ts";

/** A call under its id, with what the log has of it. */
interface Made {
  readonly id: string;
  readonly recorded: RecordedCall | undefined;
}

/** What the code asks for. */
type Asked = Pick<LeafSpec, "name" | "kind" | "label" | "started">;

/** The call's id and its record. Undefined: the log has another call here, and all is over. */
export function identify(core: Core, scope: Scope, asked: Asked): Made | undefined {
  const made = scope.inTask
    ? identifyInTask(core, scope, asked)
    : identifyInBody(core, scope, asked);
  if (made && !made.recorded) {
    core.firstNew ??= { task_call_id: made.id, name: asked.name, label: asked.label };
  }
  return made;
}

function identifyInBody(core: Core, { ids }: Scope, asked: Asked): Made | undefined {
  const { position } = ids;
  const id = ids.next(asked.name);
  const recorded = core.journal.childrenOf(ids.parent_id)[position];
  if (!recorded) return { id, recorded };
  recorded.asked = true;
  if (recorded.id === id && isOfKind(recorded, asked)) return { id, recorded };
  const found = { task_call_id: id, name: asked.name, label: asked.label };
  const at = core.options.host.callSite();
  core.doom(nondeterminism({ position, expected: recordedRef(recorded), found, at, of: core }));
  return undefined;
}

/** In a task, a record serves only the same call with the same input (EXE-30). */
function identifyInTask({ journal, options }: Core, { ids }: Scope, asked: Asked): Made {
  for (;;) {
    const id = ids.next(asked.name);
    const recorded = journal.calls.get(id);
    if (!recorded) return { id, recorded };
    // What a wait was begun with is an instant, which no second run meets again.
    const isSame = asked.kind !== null || isSameInput(recorded, asked.started, options.host);
    if (isSame && isOfKind(recorded, asked) && !recorded.asked) {
      recorded.asked = true;
      return { id, recorded };
    }
  }
}

function isOfKind(recorded: RecordedCall, { kind, label }: Asked): boolean {
  return recorded.kind === kind && hasLabel(recorded, label);
}

/** Warns once where a call is made with another argument than the log has of it. */
export function compareInput(core: Core, call: Call, started: string | null): void {
  const { journal, options } = core;
  const { id, kind, recorded, scope } = call;
  if (!recorded || kind !== null || scope.inTask || journal.warned.has(id)) return;
  if (isSameInput(recorded, started, options.host)) return;
  journal.warned.add(id);
  const message = `${id} was called with another argument than the log has; the recorded outcome is used`;
  core.whenLive(() => core.warn("argument_changed", message, id));
}

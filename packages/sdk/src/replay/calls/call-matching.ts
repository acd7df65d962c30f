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

/** Finds the calls that the code makes in the log, by their ids and by the order they are made in. */
export class CallMatching {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** The call's id and its record. Undefined: the log has another call here, and all is over. */
  identify(scope: Scope, asked: Asked): Made | undefined {
    const made = scope.inTask
      ? this.#identifyInTask(scope, asked)
      : this.#identifyInBody(scope, asked);
    if (made && !made.recorded) {
      this.#core.firstNew ??= { task_call_id: made.id, name: asked.name, label: asked.label };
    }
    return made;
  }

  #identifyInBody({ ids }: Scope, asked: Asked): Made | undefined {
    const core = this.#core;
    const { position } = ids;
    const id = ids.next(asked.name);
    const recorded = core.journal.childrenOf(ids.parent_id)[position];
    if (!recorded) return { id, recorded };
    recorded.asked = true;
    const isKind = recorded.kind === asked.kind && hasLabel(recorded, asked.label);
    if (recorded.id === id && isKind) {
      return { id, recorded };
    }
    const found = { task_call_id: id, name: asked.name, label: asked.label };
    const at = core.options.host.callSite();
    core.doom(nondeterminism({ position, expected: recordedRef(recorded), found, at, of: core }));
    return undefined;
  }

  /** In a task, a record serves only the same call with the same input (EXE-30). */
  #identifyInTask({ ids }: Scope, asked: Asked): Made {
    const { journal, options } = this.#core;
    for (;;) {
      const id = ids.next(asked.name);
      const recorded = journal.calls.get(id);
      if (!recorded) return { id, recorded };
      // What a wait was begun with is an instant, which no second run meets again.
      const isSame = asked.kind !== null || isSameInput(recorded, asked.started, options.host);
      const isKind = recorded.kind === asked.kind && hasLabel(recorded, asked.label);
      if (isSame && isKind && !recorded.asked) {
        recorded.asked = true;
        return { id, recorded };
      }
    }
  }

  compareInput(call: Call, recorded: RecordedCall, started: string | null): void {
    const { journal, options } = this.#core;
    if (call.kind !== null || call.scope.inTask || journal.warned.has(call.id)) return;
    if (isSameInput(recorded, started, options.host)) return;
    journal.warned.add(call.id);
    const message = `${call.id} was called with another argument than the log has; the recorded outcome is used`;
    this.#core.whenLive(() => this.#core.warn("argument_changed", message, call.id));
  }
}

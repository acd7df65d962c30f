import type { Change } from "@engine/contract";
import type { Changed, Decide, Store } from "@engine/store";
import { changed } from "../changed.ts";

/** The same store, but for some methods of one of its ports. */
export function changedPort<Port extends keyof Store>(
  store: Store,
  port: Port,
  methods: Partial<Store[Port] & object>,
): Store {
  const inner = store[port] as Store[Port] & object;
  return changed(store, { [port]: changed(inner, methods) } as Partial<Store>);
}

/** A store that changes what decisions say. */
export function deciding(store: Store, replace: (change: Change) => Change): Store {
  return changedPort(store, "executions", {
    change(execution_id, decide, options): Promise<Changed> {
      const other: Decide = (...seen) => {
        const change = decide(...seen);
        return change && replace(change);
      };
      return store.executions.change(execution_id, other, options);
    },
  });
}

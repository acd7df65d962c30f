import type { Change } from "@engine/contract";
import type { Changed, Decide, Store } from "@engine/store";

/** The same, but for some methods. */
export function changed<Whole extends object>(whole: Whole, methods: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

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

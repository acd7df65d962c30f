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

/** A store that changes what decisions say. */
export function deciding(store: Store, replace: (change: Change) => Change): Store {
  return changed(store, {
    changeExecution(execution_id, decide, options): Promise<Changed> {
      const other: Decide = (...seen) => {
        const change = decide(...seen);
        return change && replace(change);
      };
      return store.changeExecution(execution_id, other, options);
    },
  });
}

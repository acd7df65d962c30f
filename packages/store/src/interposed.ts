import type { MethodKind } from "./ports/port.ts";
import { PORTS } from "./ports.ts";
import { OWN_METHODS, type Store, type StoreMethod } from "./store.ts";

/** Any method, without its types: what stands between asks them all alike. */
export type StoreCall = (...args: unknown[]) => unknown;

/**
 * What is asked instead of a method; undefined leaves it as it is.
 *
 * @param call The method; undefined where the store does not have it.
 */
export type Interpose = (
  method: { readonly name: StoreMethod; readonly kind: MethodKind },
  call: StoreCall | undefined,
) => StoreCall | undefined;

/** The store as it is seen with something between it and its callers. */
export function interposed(store: Store, interpose: Interpose): Store {
  const ports = Object.entries(PORTS).map(([port, kinds]) => {
    const inner = store[port as keyof typeof PORTS];
    const methods = interposedMethods(inner, kinds, { prefix: `${port}.`, interpose });
    return [port, methods.isSame ? inner : methods.all] as const;
  });
  const own = interposedMethods(store, OWN_METHODS, { prefix: "", interpose }).all;
  const { kind, outbox } = store;
  return { kind, outbox, ...Object.fromEntries(ports), ...own } as Store;
}

function interposedMethods(
  inner: object,
  kinds: Readonly<Record<string, MethodKind>>,
  { prefix, interpose }: { readonly prefix: string; readonly interpose: Interpose },
): { readonly all: object; readonly isSame: boolean } {
  const all: Record<string, StoreCall> = {};
  let isSame = true;
  for (const [name, kind] of Object.entries(kinds)) {
    const exists = Reflect.get(inner, name) !== undefined;
    const call: StoreCall = (...args) => (Reflect.get(inner, name) as StoreCall).apply(inner, args);
    const instead = interpose(
      { name: `${prefix}${name}` as StoreMethod, kind },
      exists ? call : undefined,
    );
    if (instead) isSame = false;
    if (instead || exists) all[name] = instead ?? call;
  }
  return { all, isSame };
}

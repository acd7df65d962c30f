/** Servers of tests whose routes or handlers are not the engine's, so that no document tells of them. */
export const unchecked: WeakSet<object> = new WeakSet();

/** Settles as soon as the condition holds, for what tells nobody when it changes. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

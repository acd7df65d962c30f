/**
 * Held by each transaction that begins a session of a name, writes what operators say of it, or forgets
 * it, on any server.
 */
export function workerLock(name: string): string {
  return `engine worker ${name}`;
}

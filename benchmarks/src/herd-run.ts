import { gate } from "./gate.ts";
import { asleep, putToSleep, type Wake, wakes } from "./herd.ts";
import type { HttpClient } from "./http-client.ts";
import type { ServerMemory } from "./server-memory.ts";

export interface Plan {
  readonly size: number;
  /** Milliseconds from now to the first instant. */
  readonly lead: number;
  /** Milliseconds from the first to the last. */
  readonly spread: number;
}

export interface Herd {
  readonly wakes: readonly Wake[];
  /** Milliseconds from the first request until all slept. */
  readonly fellAsleep: number;
  /** Members that had a worker while the herd slept. */
  readonly onWorkers: number;
  /** Bytes of the server for each member that slept. */
  readonly held: number;
  readonly resident: number;
}

export async function runHerd(
  { client, memory }: { client: HttpClient; memory: ServerMemory },
  { size, lead, spread }: Plan,
): Promise<Herd> {
  const before = await memory.read();
  const start = Date.now();
  const first = start + Math.ceil(lead);
  const untils = Array.from({ length: size }, (_, i) => first + Math.floor((i * spread) / size));
  const ids = await putToSleep(client, untils);
  const fellAsleep = Date.now() - start;
  const onWorkers = size - (await asleep(client));
  const during = await memory.read();
  // Else what was seen is not a herd that sleeps.
  gate(Date.now() < first, () => `${size} took ${fellAsleep} ms to fall asleep, too long to look`);
  return {
    wakes: await wakes(client, ids, untils),
    fellAsleep,
    onWorkers,
    held: (during.held - before.held) / size,
    resident: (during.resident - before.resident) / size,
  };
}

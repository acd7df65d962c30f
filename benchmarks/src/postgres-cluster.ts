import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { startTestPostgres } from "@engine/store/test-postgres";
import { gate } from "./gate.ts";

/** What makes an acknowledged commit survive a power loss. The rest is equal for all that use it. */
export const DURABLE_SETTINGS = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
} as const;

const SETTINGS = { ...DURABLE_SETTINGS, shared_buffers: "256MB" };
const MEMORY_FILE_SYSTEM = 0x01021994;

export interface Cluster {
  /** Of an empty database. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A PostgreSQL server of its own on a disk, durable, with one empty database. */
export async function startCluster(): Promise<Cluster> {
  const { type } = await statfs(tmpdir());
  gate(
    type !== MEMORY_FILE_SYSTEM,
    () => `${tmpdir()} is memory, where nothing is durable; set TMPDIR to a folder on a disk`,
  );
  const postgres = await startTestPostgres(SETTINGS);
  try {
    return { url: await postgres.createDatabase(), stop: () => postgres.stop() };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

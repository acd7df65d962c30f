/**
 * Moments at which a crash of the server leaves something else in its database, each a channel of
 * `node:diagnostics_channel`; see the failpoints of the server.
 */
import { type Channel, channel } from "node:diagnostics_channel";
import { interposed } from "./interposed.ts";
import { PORTS } from "./ports.ts";
import type { Store } from "./store.ts";

/** All statements of a commit have run, or are about to be sent together with their COMMIT. */
export const committing: Channel = channel("engine:store:committing");
/** PostgreSQL: the COMMIT has been sent, and nothing is known of its answer. */
export const commitSent: Channel = channel("engine:store:commit-sent");
/** The database has confirmed; the caller does not know. */
export const commitDone: Channel = channel("engine:store:commit-done");
/** One migration has run inside the transaction of all of them. */
export const migrating: Channel = channel("engine:store:migrating");
export const migrated: Channel = channel("engine:store:migrated");
/** A write other than that of executions is asked for. */
const writing: Channel = channel("engine:store:writing");
/** It is durable. */
const written: Channel = channel("engine:store:written");

/** Every failpoint of a store, each as its channel followed by what it is of. */
export function storeFailpoints(kind: Store["kind"]): readonly string[] {
  const isShared = kind === "postgres";
  const places = [committing, commitDone, migrating, migrated, ...(isShared ? [commitSent] : [])];
  const published = Object.entries(PORTS).flatMap(([port, kinds]) =>
    Object.entries(kinds)
      .filter(([, kind]) => kind === "write" || (isShared && kind === "shared"))
      .flatMap(([name]) => [writing, written].map((at) => `${String(at.name)} ${port}.${name}`)),
  );
  return [...places.map(({ name }) => String(name)), ...published];
}

/** Has the writes of a store published, but for those of executions: they are too many for it. */
export function publishWrites(store: Store): Store {
  return interposed(store, ({ name, kind }, call) => {
    if (!call || (kind !== "write" && kind !== "shared")) return undefined;
    return async (...args) => {
      if (writing.hasSubscribers) writing.publish({ of: [name] });
      const result = await call(...args);
      if (written.hasSubscribers) written.publish({ of: [name] });
      return result;
    };
  });
}

/**
 * How a sweep knows for how long a worker was out of touch with its server, as on a machine that has too
 * much to do: it writes down when it was answered. A server may take such a worker for lost.
 */
import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { type Absence, gapsOf } from "../kill/violations.ts";
import { linesOf } from "./strike.ts";

const CONTACTS = "contacts";
const APART_MS = 250;
/**
 * Less than `silence_timeout` of the sweep's servers, since a beat takes its time; more than a worker
 * waits that only has to find a server that has started again.
 */
const OUT_OF_TOUCH_MS = 4_000;
/**
 * Its server died meanwhile, and the next one gives a worker no more than `disconnect_grace` to be back.
 * On a machine that is not busy a server is back in less.
 */
const WITHOUT_SERVER_MS = 2_000;

/** Writes down from now on when this process is answered, if it is a worker. */
export function noteContacts(): void {
  const folder = process.env["SWEEP_FOLDER"];
  if (folder === undefined || !isMainThread || !process.argv.includes("worker")) return;
  let last = 0;
  const note = () => {
    const now = Date.now();
    if (now - last < APART_MS) return;
    last = now;
    appendFileSync(join(folder, CONTACTS), `${process.pid}\t${now}\n`);
  };
  note();
  subscribe("http.client.response.finish", note);
}

/**
 * When workers were not answered for so long that their servers may have given them up.
 *
 * @param deaths When servers ended.
 */
export function outOfTouch(folder: string, deaths: readonly Absence[]): readonly Absence[] {
  const lines = linesOf(join(folder, CONTACTS)).map((line) => line.split("\t").map(Number));
  return [...Map.groupBy(lines, ([pid]) => pid ?? 0)].flatMap(([pid, contacts]) =>
    gapsOf(
      pid,
      contacts.map(([, at]) => at ?? 0),
      WITHOUT_SERVER_MS,
    ).filter(({ from, to }) => {
      const isServerless = deaths.some((death) => death.from <= to && death.to >= from);
      return isServerless || to - from >= OUT_OF_TOUCH_MS;
    }),
  );
}

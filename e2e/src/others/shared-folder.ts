import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AT_ONCE, DEADLY, DEATHS, DOOMED, NOTES, type Note } from "./did.ts";

/** The judge's side of what tasks note, and of where their processes die. */
export class SharedFolder {
  readonly path: string;
  #deaths = 0;

  constructor(path: string) {
    this.path = path;
    for (const folder of [path, join(path, NOTES), join(path, DOOMED)]) mkdirSync(folder);
    this.setDeadly(undefined);
    this.#tellDeaths();
  }

  /** From now on every execution comes to its death at its n-th note, once. */
  setDeadly(entry: number | undefined, isAtOnce = false): void {
    writeFileSync(join(this.path, DEADLY), `${isAtOnce ? AT_ONCE : ""}${entry ?? 0}`);
  }

  /** Ids of executions that have come to their deadly note, and of those that were spared. */
  doomed(): ReadonlySet<string> {
    return new Set(readdirSync(join(this.path, DOOMED)));
  }

  /** The processes that had the doomed; each of them has ended, or is about to. */
  doomedProcesses(): readonly number[] {
    const folder = join(this.path, DOOMED);
    const pids = readdirSync(folder).map((id) => Number(readFileSync(join(folder, id), "utf8")));
    return pids.filter((pid) => pid > 0);
  }

  /** This execution does not come to its death any more. */
  spare(executionId: string): void {
    writeFileSync(join(this.path, DOOMED, executionId), "", { flag: "a" });
  }

  /** Processes of those that are doomed by now kill themselves. */
  letDie(): void {
    this.#deaths++;
    this.#tellDeaths();
  }

  /** In the order in which they were written; none for an execution without tasks. */
  notesOf(executionId: string): readonly Note[] {
    let text: string;
    try {
      text = readFileSync(join(this.path, NOTES, executionId), "utf8");
    } catch {
      return [];
    }
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Note);
  }

  #tellDeaths(): void {
    writeFileSync(join(this.path, DEATHS), `${this.#deaths}`);
  }
}

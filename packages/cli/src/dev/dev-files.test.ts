import type { Registered } from "@engine/contract";
import { expect, test } from "vitest";
import type { RegisterOutcome } from "../workflow-file/register-file.ts";
import { DevFiles } from "./dev-files.ts";
import type { FileNews } from "./file-news.ts";

type Item = Registered["items"][number];

interface Saved {
  readonly workflows: readonly string[];
  readonly imports: readonly string[];
  readonly stamp: number;
  readonly at: number;
}

/** Files as `name → workflows and imports`, in memory: what is saved, and what came of it. */
class Desk {
  readonly registered: string[] = [];
  readonly #files = new Map<string, Saved>();
  readonly #versions = new Map<string, number>();
  #saves = 0;
  #now = 0;
  onRegister: (path: string) => void = () => {};

  readonly files: DevFiles = new DevFiles({
    find: () => ({
      files: [...this.#files].filter(([, { workflows }]) => workflows.length).map(([path]) => path),
      folders: ["/"],
    }),
    stamp: (path) => `${this.#files.get(path)?.stamp ?? ""}`,
    isSavedSince: (path, time) => (this.#files.get(path)?.at ?? -1) >= time,
    register: async (path) => this.#register(path),
    clock: () => this.#now,
  });

  save(path: string, workflows: readonly string[], imports: readonly string[] = []): void {
    this.#files.set(path, { workflows, imports, stamp: ++this.#saves, at: this.#now });
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  wait(ms: number): void {
    this.#now += ms;
  }

  /** What a look brings a moment later, a line for each file. */
  async look(): Promise<string[]> {
    this.wait(1);
    return (await this.files.look()).news.map(line);
  }

  #register(path: string): RegisterOutcome {
    this.registered.push(path);
    this.onRegister(path);
    const { workflows = [], imports = [] } = this.#files.get(path) ?? {};
    const missing = imports.find((one) => !this.#files.has(one));
    const inputs = [path, ...imports];
    if (missing !== undefined) {
      const message = `${missing} is missing`;
      return { problems: [{ file: path, line: 1, column: 1, message }], inputs };
    }
    if (workflows.includes("down")) throw new Error("the server is down");
    const items = workflows.map((name) => {
      const version = (this.#versions.get(name) ?? 0) + 1;
      this.#versions.set(name, version);
      return { namespace: "default", name, version, created: true } as Item;
    });
    return { registered: { items, warnings: [] }, problems: [], inputs, bundle: "code" };
  }
}

function line(news: FileNews): string {
  const kept = news.kept.map(({ name, version }) => `${name} v${version}`).join(" ");
  const keeps = kept && `; kept ${kept}`;
  if (news.kind === "gone") return `${news.path} ${news.isDeleted ? "deleted" : "empty"}${keeps}`;
  if (news.kind !== "registered") return `${news.path} ${news.kind}${keeps}`;
  const shared = news.shared.map(({ name, other }) => `; ${name} also in ${other}`).join("");
  return `${news.path} ${news.items.map((i) => `${i.name} v${i.version}`).join(" ")}${keeps}${shared}`;
}

test("EXE-95 a save registers the files that it concerns and no others", async () => {
  const desk = new Desk();
  desk.save("/lib.ts", []);
  desk.save("/a.ts", ["a"], ["/lib.ts"]);
  desk.save("/b.ts", ["b"], ["/lib.ts"]);
  desk.save("/c.ts", ["c"]);
  expect(await desk.look()).toEqual(["/a.ts a v1", "/b.ts b v1", "/c.ts c v1"]);
  expect([...desk.files.inputs]).toEqual(["/a.ts", "/lib.ts", "/b.ts", "/c.ts"]);
  expect(await desk.look()).toEqual([]);
  desk.save("/c.ts", ["c"]);
  expect(await desk.look()).toEqual(["/c.ts c v2"]);
  desk.save("/lib.ts", []);
  expect(await desk.look()).toEqual(["/a.ts a v2", "/b.ts b v2"]);
});

test("EXE-95 a file with a problem keeps its version, and is registered once the problem is gone", async () => {
  const desk = new Desk();
  desk.save("/a.ts", ["a"]);
  await desk.look();
  desk.save("/a.ts", ["a"], ["/lib.ts"]);
  expect(await desk.look()).toEqual(["/a.ts refused; kept a v1"]);
  expect(await desk.look()).toEqual([]);
  // Where the import would have led was never there before.
  desk.save("/lib.ts", []);
  expect(await desk.look()).toEqual(["/a.ts a v2"]);
});

test("a file that could not be sent keeps its version and is sent again with its next save", async () => {
  const desk = new Desk();
  desk.save("/a.ts", ["a"]);
  await desk.look();
  desk.save("/a.ts", ["down"]);
  expect(await desk.look()).toEqual(["/a.ts failed; kept a v1"]);
  desk.save("/a.ts", ["a"]);
  expect(await desk.look()).toEqual(["/a.ts a v2"]);
});

test("EXE-95 the workflows of a deleted file stay registered, which is said once", async () => {
  const desk = new Desk();
  desk.save("/a.ts", ["a", "b"]);
  desk.save("/c.ts", ["c"]);
  await desk.look();
  desk.remove("/a.ts");
  desk.save("/c.ts", []);
  const { news, againMs = 0 } = await desk.files.look();
  expect(news).toEqual([]);
  desk.wait(againMs);
  expect(await desk.look()).toEqual(["/a.ts deleted; kept a v1 b v1", "/c.ts empty; kept c v1"]);
  desk.wait(againMs);
  expect((await desk.files.look()).againMs).toBeUndefined();
  desk.save("/a.ts", ["a", "b"]);
  expect(await desk.look()).toEqual(["/a.ts a v2 b v2"]);
});

test("a file that an editor takes away for a moment is only changed", async () => {
  const desk = new Desk();
  desk.save("/lib.ts", []);
  desk.save("/a.ts", ["a"], ["/lib.ts"]);
  await desk.look();
  desk.remove("/a.ts");
  expect(await desk.look()).toEqual([]);
  desk.wait(100);
  desk.save("/a.ts", ["a"], ["/lib.ts"]);
  expect(await desk.look()).toEqual(["/a.ts a v2"]);
  // The same of a file it imports; the time that counts starts anew.
  desk.remove("/lib.ts");
  expect(await desk.look()).toEqual([]);
  desk.wait(200);
  expect(await desk.look()).toEqual([]);
  desk.wait(100);
  expect(await desk.look()).toEqual(["/a.ts refused; kept a v2"]);
});

test("a renamed file registers under its new name, and nothing is said to be left over", async () => {
  const desk = new Desk();
  desk.save("/a.ts", ["a"]);
  await desk.look();
  desk.remove("/a.ts");
  desk.save("/z.ts", ["a"]);
  expect(await desk.look()).toEqual(["/z.ts a v2"]);
  desk.wait(1000);
  expect(await desk.look()).toEqual([]);
  expect([...desk.files.inputs]).toEqual(["/z.ts"]);
});

test("a workflow that a file no longer has, and one that two files have, are named", async () => {
  const desk = new Desk();
  desk.save("/a.ts", ["a", "b"]);
  desk.save("/c.ts", ["c"]);
  await desk.look();
  desk.save("/a.ts", ["a"]);
  desk.save("/c.ts", ["c", "a"]);
  expect(await desk.look()).toEqual(["/a.ts a v2; kept b v1", "/c.ts c v2 a v3; a also in /a.ts"]);
});

test("a workflow that moves from one file to another is neither removed nor in two of them", async () => {
  const desk = new Desk();
  desk.save("/b.ts", ["b", "moves"]);
  desk.save("/a.ts", ["a"]);
  desk.save("/c.ts", ["c"]);
  await desk.look();
  desk.save("/a.ts", ["a", "moves"]);
  desk.save("/b.ts", ["b"]);
  expect(await desk.look()).toEqual(["/b.ts b v2", "/a.ts a v2 moves v2"]);
  desk.save("/a.ts", ["a"]);
  desk.save("/c.ts", ["c", "moves"]);
  expect(await desk.look()).toEqual(["/a.ts a v3", "/c.ts c v2 moves v3"]);
});

test("a save while its file is being registered counts, also of a file imported for the first time", async () => {
  const desk = new Desk();
  desk.save("/lib.ts", []);
  desk.save("/a.ts", ["a"]);
  await desk.look();
  desk.save("/a.ts", ["a"], ["/lib.ts"]);
  desk.onRegister = () => desk.save("/a.ts", ["a"], ["/lib.ts"]);
  expect(await desk.look()).toEqual(["/a.ts a v2"]);
  desk.onRegister = () => {};
  expect(await desk.look()).toEqual(["/a.ts a v3"]);

  desk.save("/b.ts", ["b"], ["/lib.ts"]);
  desk.onRegister = (path) => path === "/b.ts" && desk.save("/lib.ts", []);
  expect(await desk.look()).toEqual(["/b.ts b v1"]);
  desk.onRegister = () => {};
  expect(await desk.look()).toEqual(["/a.ts a v4", "/b.ts b v2"]);
  expect(await desk.look()).toEqual([]);
});

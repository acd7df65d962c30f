import type { Registered } from "@engine/contract";
import { expect, test } from "vitest";
import type { Replayed } from "../replay/replayed.ts";
import { checkedLines } from "./checked-lines.ts";
import type { FileNews } from "./file-news.ts";
import { newsLines, refusalText } from "./news-lines.ts";
import type { Checked } from "./replay-checks.ts";

const now = new Date(2026, 0, 1, 9, 5, 7).getTime();
const paint = (_role: string, text: string) => text;

const given = (name: string, version: number) => ({ namespace: "default", name, version });
const item = (name: string, version: number, created: boolean) =>
  ({ ...given(name, version), created }) as Registered["items"][number];

function registered(parts: Partial<Extract<FileNews, { kind: "registered" }>>): FileNews {
  const nothing = { items: [], warnings: [], bundle: "", kept: [], shared: [] };
  return { kind: "registered", path: "/work/flows/a.ts", ...nothing, ...parts };
}

test("EXE-95 a save is a line for each workflow: unchanged, new version N, or what stays", () => {
  const news: FileNews[] = [
    registered({
      items: [item("order", 12, true), item("hello_world", 1, false)],
      kept: [given("old", 3)],
      shared: [{ ...given("order", 12), other: "/work/b.ts" }],
    }),
    { kind: "gone", path: "/work/c.ts", isDeleted: true, kept: [given("gone", 2)] },
    { kind: "gone", path: "/work/d.ts", isDeleted: false, kept: [given("left", 1)] },
    { kind: "refused", path: "/work/e.ts", problems: [], kept: [] },
  ];
  expect(newsLines(news, { paint, now }, "/work")).toBe(
    `09:05:07   order         new version 12                                     flows/a.ts
09:05:07   hello_world   unchanged, version 1                               flows/a.ts
09:05:07   order         is in two files, the one registered last counts    flows/a.ts, b.ts
09:05:07   old           removed, version 3 stays registered                flows/a.ts
09:05:07   gone          deleted, version 2 stays registered                c.ts
09:05:07   left          no workflow any more, version 1 stays registered   d.ts
`,
  );
});

test("EXE-95 a file that is refused says what goes on being served", () => {
  expect(refusalText("a.ts", undefined, [])).toBe("a.ts cannot be registered");
  expect(refusalText("a.ts", "the server is down", [given("order", 2), given("b", 1)])).toBe(
    "a.ts cannot be registered: the server is down; still served: order at version 2, b at version 1",
  );
});

function one(result: "ok" | "diverged" | "unverifiable", execution_id: string): Replayed {
  const about = {
    execution_id,
    namespace: "default",
    workflow: "order",
    version: 1,
    state: "PAUSED",
  };
  if (result === "ok") return { ...about, result };
  if (result === "unverifiable") return { ...about, result, reason: "a value was masked" };
  const failure = {
    type: "NondeterminismError",
    code: "nondeterminism",
    message: "replay diverged at position 1\n  expected  a~1\n  found     b~1",
    retryable: false,
    details: null,
    cause: null,
    attempts: 1,
    task_call_id: null,
  };
  return { ...about, result, failure };
}

function shown(parts: Partial<Checked>): string {
  const checked: Checked = {
    version: given("order", 2),
    replayed: [],
    failed: undefined,
    leftOut: 0,
    outOfTime: undefined,
    ...parts,
  };
  return checkedLines(checked, { paint, now, serverFlag: " --server-url http://h:1" });
}

test("EXE-95 executions that would go on are one line; each that would not comes with its divergence", () => {
  expect(shown({ replayed: [one("ok", "x1")] })).toBe(
    "09:05:07   order   1 live execution replayed on version 2: 1 ok\n",
  );
  expect(
    shown({ replayed: [one("ok", "x1"), one("unverifiable", "x2"), one("diverged", "x3")] }),
  ).toBe(`09:05:07   order   3 live executions replayed on version 2: 1 ok, 1 diverged, 1 unverifiable (it keeps its version)
✗ diverged       x3   v1 paused
    replay diverged at position 1
      expected  a~1
      found     b~1
? unverifiable   x2   v1 paused
    a value was masked
`);
});

test("EXE-95 what is not shown, left out, or could not be replayed is counted", () => {
  const replayed = ["x1", "x2", "x3", "x4", "x5"].map((id) => one("diverged", id));
  const text = shown({
    replayed,
    leftOut: 20,
    outOfTime: { executions: 7, during: "x6" },
  });
  expect(text).toContain(
    "5 live executions replayed on version 2: 5 diverged (they keep their version)",
  );
  expect(text.match(/✗ diverged/g)).toHaveLength(3);
  expect(text.split("\n").slice(-4)).toEqual([
    "  2 more; see all with: npx engine workflow replay order --server-url http://h:1",
    "  7 left out: 10 s were over during x6",
    "  20 older left out: at most 100 are replayed",
    "",
  ]);
  expect(shown({ failed: "its code does not load: Error: boom" })).toBe(
    "09:05:07   order   no live execution could be replayed on version 2: its code does not load: Error: boom\n",
  );
  expect(shown({ replayed: [one("ok", "x1")], failed: "out of memory" })).toMatch(
    /1 ok\n {2}the others were not: out of memory\n$/,
  );
});

import type { SourceFile } from "@engine/contract";
import { expect, test } from "vitest";
import { extractWorkflows } from "./extract.ts";

const SDK = `import { task, workflow } from "@engine/sdk";\n`;

function extract(source: string, ...others: [path: string, source: string][]) {
  const files: SourceFile[] = [
    { path: "main.ts", source },
    ...others.map(([path, text]) => ({ path, source: text })),
  ];
  return extractWorkflows({ entry: "main.ts", files });
}

/** `namespace/name: tasks` of every workflow of files without issues. */
function read(...files: Parameters<typeof extract>): string[] {
  const { workflows, issues } = extract(...files);
  expect(issues).toEqual([]);
  return workflows.map(({ namespace, name, tasks }) =>
    `${namespace}/${name}: ${tasks.map((task) => task.name).join(" ")}`.trim(),
  );
}

/** `file:line:column rule expression` of every issue. */
function issuesOf(...files: Parameters<typeof extract>): string[] {
  const { workflows, issues } = extract(...files);
  expect(workflows).toEqual([]);
  return issues.map(
    ({ file, line, column, rule, expression }) => `${file}:${line}:${column} ${rule} ${expression}`,
  );
}

test("the JSDoc of a function given to the short form describes the workflow", () => {
  const { workflows } = extract(
    `${SDK}/** Says hello. */\nasync function hello() {}\nexport const a = workflow(hello);`,
  );
  expect(workflows[0]?.description).toBe("Says hello.");
});

test("JSDoc above several declarations belongs to the first", () => {
  const { workflows } = extract(
    `${SDK}/** One. */\nexport const a = workflow({ name: "a" }, f), b = workflow({ name: "b" }, f);\nasync function f() {}`,
  );
  expect(workflows.map(({ description }) => description)).toEqual(["One.", null]);
});

test.each([
  ["renamed", `import { task as step, workflow as flow } from "@engine/sdk";`, "step", "flow"],
  ["namespace", `import * as e from "@engine/sdk";`, "e.task", "e.workflow"],
  ["quoted member", `import * as e from "@engine/sdk";`, `e["task"]`, `e["workflow"]`],
  [
    "aliased",
    `import { task as t, workflow as f } from "@engine/sdk"; const step = t; const flow = f;`,
    "step",
    "flow",
  ],
  [
    "destructured",
    `import * as e from "@engine/sdk"; const { task: step, workflow } = e;`,
    "step",
    "workflow",
  ],
])("EXE-61 %s imports of the SDK are followed", (_how, header, step, flow) => {
  expect(
    read(
      `${header}\nconst a = ${step}({ name: "a" }, async () => {});\nexport const w = ${flow}({ name: "w" }, async () => a());`,
    ),
  ).toEqual(["default/w: a"]);
});

test("EXE-61 the SDK is followed through a file that exports it again", () => {
  const source = `import { step, workflow } from "./engine.js";
    const a = step({ name: "a" }, async () => {});
    export const w = workflow({ name: "w" }, () => a());`;
  expect(
    read(source, [
      "engine.ts",
      `export { task as step } from "@engine/sdk"; export * from "@engine/sdk";`,
    ]),
  ).toEqual(["default/w: a"]);
});

test("EXE-61 a name that shadows an import is not the SDK", () => {
  expect(
    read(`${SDK}
    function local(task: (options: object) => number, workflow: () => void) { workflow(); return task({ nme: 1 }); }
    export const w = workflow({ name: "w" }, async () => local((o) => 1, () => {}));`),
  ).toEqual(["default/w:"]);
});

test.each([
  ["export const a = workflow({ name: 'w' }, async () => {});"],
  ["const a = workflow({ name: 'w' }, async () => {}); export { a };"],
  ["const a = workflow({ name: 'w' }, async () => {}); export { a as b };"],
  ["const a = workflow({ name: 'w' }, async () => {}); const b = a; export { b };"],
  ["export default workflow({ name: 'w' }, async () => {});"],
  ["const a = workflow({ name: 'w' }, async () => {}); export default a;"],
  ["export const a = workflow({ name: 'w' }, async () => {}) as unknown satisfies unknown;"],
])("EXE-61 exported: %s", (source) => {
  expect(read(SDK + source)).toEqual(["default/w:"]);
});

test.each([
  [`export { a } from "./other.ts";`],
  [`export { a as b } from "./other";`],
  [`export * from "./other.js";`],
  [`import { a } from "./other.ts"; export { a };`],
  [`import { a } from "./other.ts"; export const again = a;`],
  [`import * as other from "./other.ts"; export const b = other.a;`],
])("EXE-61 exported from another file: %s", (source) => {
  const other = `${SDK}export const a = workflow({ name: "w" }, async () => {});`;
  expect(read(source, ["other.ts", other])).toEqual(["default/w:"]);
});

test("EXE-61 short forms take the name of the function", () => {
  expect(
    read(`${SDK}
    async function first() {}
    const second = async () => { await pay(); };
    const pay = task(async function pay_once() {});
    export const a = workflow(first);
    export const b = workflow(second);
    export const c = workflow({ description: "x" }, async function third() {});`),
  ).toEqual(["default/first:", "default/second: pay_once", "default/third:"]);
});

test("EXE-61 tasks are found wherever the body may get to, in source order", () => {
  const source = `${SDK}
    import { later } from "./later.ts";
    import * as ns from "./ns.ts";
    import { parallel } from "@engine/sdk";
    const passed = task({ name: "passed" }, async () => {});
    const called = task({ name: "called" }, async () => nested());
    const nested = task({ name: "nested" }, async () => deepest());
    const deepest = task({ name: "deepest" }, async () => {});
    const unused = task({ name: "unused" }, async () => {});
    const group = { used: task({ name: "grouped" }, async () => {}), idle: task({ name: "idle" }, async () => {}) };
    const copied = task({ name: "copied" }, async () => {});
    const quick = copied.with({ timeout: "1s" });
    let late: unknown; late = task({ name: "assigned" }, async () => {});
    const list: unknown[] = []; list.push(task({ name: "pushed" }, async () => {}));
    class Steps { one = task({ name: "in_class" }, async () => {}); }
    function through() { return [quick, copied, late, list, Steps]; }
    export const w = workflow({ name: "w" }, async () => {
      const inline = task({ name: "inline" }, async () => {});
      await parallel([() => called(), passed, inline]);
      through(); await group.used(); await later(); await ns.one();
      const { two } = await import("./dynamic.ts"); let same: typeof unused;
    });
    const other = workflow({ name: "other" }, async () => unused());
    export { other };`;
  expect(
    read(
      source,
      [
        "later.ts",
        `import { task } from "@engine/sdk"; const deep = task({ name: "deep" }, async () => {}); export const later = () => deep();`,
      ],
      [
        "ns.ts",
        `import { task } from "@engine/sdk"; export const one = task({ name: "one" }, async () => {}); export const no = task({ name: "no" }, async () => {});`,
      ],
      [
        "dynamic.ts",
        `import { task } from "@engine/sdk"; export const two = task({ name: "two" }, async () => {});`,
      ],
    ),
  ).toEqual([
    "default/w: passed called nested deepest grouped copied assigned pushed in_class inline two deep one",
    "default/other: unused",
  ]);
});

test("a method reaches its siblings through this", () => {
  expect(
    read(`${SDK}
    const steps = { inner: task({ name: "inner" }, async () => {}), run() { return this.inner(); } };
    export const w = workflow({ name: "w" }, async () => steps.run());`),
  ).toEqual(["default/w: inner"]);
});

test("EXE-61 a workflow that calls another does not have its tasks", () => {
  expect(
    read(`${SDK}
    const a = task({ name: "a" }, async () => {});
    export const child = workflow({ name: "child" }, async () => a());
    export const parent = workflow({ name: "parent" }, async () => child);`),
  ).toEqual(["default/child: a", "default/parent:"]);
});

test.each<[string, string, string[]]>([
  ["no_workflow", "export const a = 1;", ["main.ts:1:1 no_workflow "]],
  [
    "no_workflow when the import is missing",
    `export const a = workflow({ name: "a" }, async () => {});`,
    ["main.ts:1:1 no_workflow "],
  ],
  [
    "not_exported",
    `${SDK}const a = workflow({ name: "a" }, run);\nfunction run() {}`,
    [`main.ts:2:11 not_exported workflow({ name: "a" }, run)`],
  ],
  [
    "not_exported for a let",
    `${SDK}export let a = workflow({ name: "a" }, run);\nfunction run() {}`,
    [`main.ts:2:16 not_exported workflow({ name: "a" }, run)`],
  ],
  [
    "missing_name",
    `${SDK}export const a = workflow(async () => {});`,
    ["main.ts:2:18 missing_name workflow(async () => {})"],
  ],
  [
    "missing_name with options",
    `${SDK}export const a = workflow({ metadata: {} }, async () => {});`,
    ["main.ts:2:18 missing_name workflow({ metadata: {} }, async () => {})"],
  ],
  [
    "missing_name of a task",
    `${SDK}const t = task(() => 1);\nexport const a = workflow({ name: "a" }, async () => t());`,
    ["main.ts:2:11 missing_name task(() => 1)"],
  ],
  [
    "duplicate_workflow",
    `${SDK}export const a = workflow({ name: "a" }, run), b = workflow({ name: "a" }, run);\nexport const c = workflow({ name: "a", namespace: "x" }, run);\nfunction run() {}`,
    [`main.ts:2:52 duplicate_workflow workflow({ name: "a" }, run)`],
  ],
  [
    "duplicate_task",
    `${SDK}const a = task({ name: "t" }, run);\nconst b = task({ name: "t" }, run);\nexport const w = workflow({ name: "w" }, async () => [a, b, a.with({ timeout: 1 })]);\nfunction run() {}`,
    [`main.ts:3:11 duplicate_task task({ name: "t" }, run)`],
  ],
  ["syntax_error", `${SDK}export const a = ;`, ["main.ts:2:18 syntax_error ;"]],
  [
    "syntax_error after astral characters",
    `const a = "😀😀"; const b = 1 2;`,
    ["main.ts:1:30 syntax_error 2;"],
  ],
  [
    "syntax_error for a name declared twice",
    `const a = 1;\nconst a = 2;`,
    ["main.ts:2:7 syntax_error a = 2;"],
  ],
  [
    "unresolved_import",
    `${SDK}import { x } from "./gone.ts";\nimport "./gone2.ts";\nexport { y } from "./gone3";\nconst z = import("./gone4.js");\nexport const a = workflow({ name: "a" }, async () => x);`,
    [
      `main.ts:2:19 unresolved_import "./gone.ts"`,
      `main.ts:3:8 unresolved_import "./gone2.ts"`,
      `main.ts:4:19 unresolved_import "./gone3"`,
      `main.ts:5:18 unresolved_import "./gone4.js"`,
    ],
  ],
  [
    "unknown_option",
    `${SDK}export const a = workflow({ name: "a", timout: run(), retry: {} }, run);\nfunction run() {}`,
    ["main.ts:2:40 unknown_option timout: run()", "main.ts:2:55 unknown_option retry: {}"],
  ],
  [
    "invalid_option",
    `${SDK}export const a = workflow({ name: "-a", namespace: 5, description: 1, metadata: [1], input: "text" }, run);\nfunction run() {}`,
    [
      `main.ts:2:35 invalid_option "-a"`,
      "main.ts:2:52 invalid_option 5",
      "main.ts:2:68 invalid_option 1",
      "main.ts:2:81 invalid_option [1]",
      `main.ts:2:93 invalid_option "text"`,
    ],
  ],
  [
    "invalid_option of a task",
    `${SDK}const t = task({ name: "map", retry: { maxAttempts: 0, backoff: 0.5, delays: 1, delay: -1 }, fallback: 3 }, run);\nexport const a = workflow({ name: "a" }, () => t());\nfunction run() {}`,
    [
      `main.ts:2:24 invalid_option "map"`,
      "main.ts:2:53 invalid_option 0",
      "main.ts:2:65 invalid_option 0.5",
      "main.ts:2:70 unknown_option delays: 1",
      "main.ts:2:88 invalid_option -1",
      "main.ts:2:104 invalid_option 3",
    ],
  ],
  [
    "wrong options of a copy",
    `${SDK}const t = task({ name: "t" }, run);\nexport const a = workflow({ name: "a" }, () => t.with({ name: "u", retry: { maxAttempts: 1001 } })());\nfunction run() {}`,
    [`main.ts:3:63 invalid_option "u"`, "main.ts:3:90 invalid_option 1001"],
  ],
  [
    "invalid_option for a body that is none",
    `${SDK}export const a = workflow({ name: "a" });\nexport const b = workflow({ name: "b" }, 5);`,
    [`main.ts:2:18 invalid_option workflow({ name: "a" })`, "main.ts:3:42 invalid_option 5"],
  ],
  [
    "not_static for spread arguments",
    `${SDK}export const a = workflow(...all);\nconst all = [{ name: "a" }, () => {}] as const;`,
    ["main.ts:2:27 not_static ...all"],
  ],
  [
    "invalid_option for options that are no object",
    `${SDK}export const a = workflow([], async function b() {});\nexport const c = workflow();`,
    [
      "main.ts:2:27 invalid_option []",
      "main.ts:3:18 invalid_option workflow()",
      "main.ts:3:18 missing_name workflow()",
    ],
  ],
])("EXE-64 %s", (_rule, source, expected) => {
  expect(issuesOf(source)).toEqual(expected);
});

test("EXE-64 an issue names workflow, path, what is wrong and what is known", () => {
  const { issues } = extract(
    `${SDK}const t = task({ name: "t", retry: { maxAttempt: 2 } }, async () => {});\nexport const a = workflow({ name: "a", namespace: "n" }, () => t());`,
  );
  expect(issues).toEqual([
    {
      workflow: "n/a",
      path: "workflows[0].tasks[0].retry.maxAttempt",
      rule: "unknown_option",
      message:
        "option retry of task() has no option maxAttempt; did you mean maxAttempts? (it has maxAttempts, delay, backoff, maxDelay, retryIf)",
      file: "main.ts",
      line: 2,
      column: 38,
      expression: "maxAttempt: 2",
    },
  ]);
});

test("EXE-64 an expression is cut at 200 characters, between characters", () => {
  const { issues } = extract(
    `${SDK}export const a = workflow({ name: "a", namespace: "x${"😀".repeat(200)}" }, async () => {});`,
  );
  expect(issues[0]?.expression.length).toBeLessThanOrEqual(200);
  expect(issues[0]?.expression).toMatch(/^"x(?:😀)+…$/u);
});

test("EXE-64 a workflow in another file must be exported by the entry too", () => {
  const other = `${SDK}export const a = workflow({ name: "a" }, async () => {});`;
  const main = `${SDK}import { a } from "./lib/other.ts";\nexport const w = workflow({ name: "w" }, async () => a);`;
  expect(issuesOf(main, ["lib/other.ts", other])).toEqual([
    `lib/other.ts:2:18 not_exported workflow({ name: "a" }, async () => {})`,
  ]);
});

test("EXE-64 export * does not pass on a default export", () => {
  const other = `${SDK}export default workflow({ name: "a" }, async () => {});`;
  expect(issuesOf(`export * from "./other.ts";`, ["other.ts", other])).toEqual([
    `other.ts:2:16 not_exported workflow({ name: "a" }, async () => {})`,
  ]);
  expect(read(`export { default } from "./other.ts";`, ["other.ts", other])).toEqual([
    "default/a:",
  ]);
});

test("issues in every file are told at once, where they are", () => {
  const main = `import { t } from "./t.ts";\nimport { workflow } from "@engine/sdk";\nexport const w = workflow({ name: "w", namespace: "x y" }, () => t());`;
  const other = `import { task } from "@engine/sdk";\n\nexport const t = task({ nam: 1 }, () => 1);`;
  expect(issuesOf(main, ["t.ts", other])).toEqual([
    `main.ts:3:51 invalid_option "x y"`,
    "t.ts:3:18 missing_name task({ nam: 1 }, () => 1)",
    "t.ts:3:25 unknown_option nam: 1",
  ]);
});

test("EXE-64 the second task of a name is refused with both places and what to do", () => {
  const { issues } = extract(
    `${SDK}const a = task({ name: "t" }, run);\nconst b = task({ name: "t" }, run);\nexport const w = workflow({ name: "w" }, async () => [a, b]);\nfunction run() {}`,
  );
  expect(issues).toMatchObject([{ rule: "duplicate_task", file: "main.ts", line: 3, column: 11 }]);
  expect(issues[0]?.message).toMatch(
    /named t, the first at main\.ts:2:11, .*; rename one, or .*with/,
  );
});

test("a task that two workflows share is refused once", () => {
  expect(
    issuesOf(
      `${SDK}const t = task({ name: "t", timeout: "x" }, run);\nexport const a = workflow({ name: "a" }, () => t());\nexport const b = workflow({ name: "b" }, () => t());\nfunction run() {}`,
    ),
  ).toEqual([`main.ts:2:38 invalid_option "x"`]);
});

test("files whose imports only bring types need not be sent", () => {
  expect(
    read(`${SDK}
    import type { A } from "./types.ts";
    import { type B } from "./types.ts";
    import { C } from "./types.ts";
    export type { D } from "./types.ts";
    export const w = workflow({ name: "w" }, async (a: A, b: B, c: C) => {});`),
  ).toEqual(["default/w:"]);
});

test("EXE-61 a file sent for its types only gives types: its workflows are another registration's", () => {
  const main = `${SDK}
    import type { Order } from "./other.ts";
    export type { Total } from "./other.ts";
    export const w = workflow({ name: "w" }, async (order: Order) => order.id);`;
  const other = `${SDK}
    import { gone } from "./not-sent.ts";
    export interface Order { id: string }
    export type Total = number;
    export const a = workflow({ name: "a" }, async () => gone());`;
  expect(read(main, ["other.ts", other])).toEqual(["default/w:"]);
  expect(extract(main, ["other.ts", other]).workflows[0]?.input_schema).toMatchObject({
    properties: { id: { type: "string" } },
  });
  const running = main.replace("export type { Total }", "export { a }");
  expect(issuesOf(running, ["other.ts", other])).toEqual([
    'other.ts:3:26 unresolved_import "./not-sent.ts"',
  ]);
});

test("files that are not programs may be sent, and are not read", () => {
  expect(
    read(
      `${SDK}import data from "./data.json";\nexport const w = workflow({ name: "w" }, async () => data);`,
      ["data.json", "{ not even json"],
    ),
  ).toEqual(["default/w:"]);
});

test("an entry that was not sent, or a file sent twice, is refused by name", () => {
  expect(extractWorkflows({ entry: "a.ts", files: [] }).issues).toMatchObject([
    { rule: "unresolved_import", file: "a.ts", line: 1, column: 1 },
  ]);
  expect(issuesOf("", ["./main.ts", ""])).toEqual(["main.ts:1:1 unresolved_import "]);
});

test("an entry without an extension is TypeScript", () => {
  const source = `${SDK}export const w = workflow({ name: "w" }, async (x: number) => x);`;
  const { issues } = extractWorkflows({ entry: "main", files: [{ path: "main", source }] });
  expect(issues).toEqual([]);
});

test("a record does not depend on the order in which files were sent", () => {
  const files: SourceFile[] = [
    {
      path: "b.ts",
      source: `${SDK}export const b = task({ name: "b" }, async () => {});`,
    },
    {
      path: "main.ts",
      source: `${SDK}import { a } from "./a.ts"; import { b } from "./b.ts"; export const w = workflow({ name: "w" }, async () => [b, a]);`,
    },
    {
      path: "a.ts",
      source: `${SDK}export const a = task({ name: "a" }, async () => {});`,
    },
  ];
  const forward = extractWorkflows({ entry: "main.ts", files });
  expect(forward.workflows[0]?.tasks.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(extractWorkflows({ entry: "./main.ts", files: files.toReversed() })).toEqual(forward);
});

test("EXE-60 a file that throws or never ends when imported is read all the same", () => {
  expect(
    read(
      `${SDK}export const w = workflow({ name: "w" }, async () => {});\nwhile (true) {}\nthrow new Error("no");`,
    ),
  ).toEqual(["default/w:"]);
});

test("ordinary TypeScript is no syntax error", () => {
  expect(
    read(`${SDK}
    enum Size { Small = "s" }
    namespace Shop { export const a = 1; }
    interface Both { a: number }
    const Both = { a: 1 };
    function over(a: string): void;
    function over(a: unknown): void {}
    abstract class Base<T> { constructor(private readonly value: T) {} declare x: number; }
    const top = await Promise.resolve(<T,>(x: T) => x);
    export const w = workflow({ name: "w" }, async () => over(Size.Small + Shop.a));`),
  ).toEqual(["default/w:"]);
});

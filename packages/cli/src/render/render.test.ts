import { type ExecutionRecord, executionError, type Failure, type Wait } from "@engine/contract";
import { expect, test } from "vitest";
import { elapsed } from "./elapsed.ts";
import { executionTable } from "./execution-table.ts";
import { eventTable, executionView, failureSentence } from "./execution-view.ts";
import { forTerminal } from "./harmless.ts";
import { painter } from "./paint.ts";
import { problemText } from "./source-problem.ts";
import { valueLine } from "./value-text.ts";
import { waitBrief, waitText } from "./wait-text.ts";

const plain = painter({ isTTY: false, write() {}, columns: undefined }, {});
const now = Date.parse("2026-01-01T12:00:00.000Z");

const paused: ExecutionRecord = {
  execution_id: "0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
  namespace: "shop",
  workflow: "checkout",
  version: 3,
  name: "order-17",
  state: "PAUSED",
  error: null,
  pause: {
    name: "review",
    kind: "input",
    value: { receipt: "r1" },
    task_call_id: "pause~1",
    paused_at: "2026-01-01T11:59:48.000Z",
  },
  waiting: [{ kind: "pause", task_call_id: "pause~1", name: "review" }],
  worker: null,
  generation: 1,
  priority: 0,
  parent_id: null,
  parent_call_id: null,
  schedule: null,
  forked_from: null,
  started_by: null,
  run_as: null,
  created_at: "2026-01-01T11:55:00.000Z",
  started_at: "2026-01-01T11:55:00.020Z",
  finished_at: null,
  updated_at: "2026-01-01T11:59:48.000Z",
  status_url: "",
  resume_url: "",
  input: { id: "o1", cents: 900 },
  output: null,
};

const failed: ExecutionRecord = {
  ...paused,
  namespace: "default",
  name: null,
  state: "FAILED",
  pause: null,
  waiting: [],
  finished_at: "2026-01-01T11:55:01.520Z",
  error: executionError({
    ...failure("PaymentError", "the card was declined"),
    attempts: 3,
    task_call_id: "charge~1",
    cause: failure("Error", "HTTP 402"),
  }),
};

function failure(type: string, message: string): Failure {
  const rest = { retryable: false, details: null, cause: null, attempts: 1, task_call_id: null };
  return { type, code: null, message, ...rest };
}

test("a paused execution shows what it waits for and what it shows meanwhile", () => {
  expect(executionView(paused, { paint: plain, now, columns: undefined })).toMatchInlineSnapshot(`
    "‖ paused  shop/checkout v3
      id          0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10
      label       order-17
      created     5 min ago (2026-01-01T11:55:00.000Z)
      waits for   pause review, since 12 s ago
      shows       {"receipt":"r1"}
      input       {"id":"o1","cents":900}
    "
  `);
});

test("EXE-78 an execution that a schedule started names it", () => {
  const started = { ...paused, name: null, schedule: "nightly" };
  expect(executionView(started, { paint: plain, now, columns: undefined })).toMatch(
    /^ {2}schedule +nightly$/m,
  );
});

const until = "2026-01-01T14:00:00.000Z";
test.each<[string, string, string, Omit<Wait, "task_call_id">]>([
  ["a pause", "pause review", "pause review", { kind: "pause", name: "review" }],
  [
    "a pause with a wake",
    "pause review, until 2026-01-01T14:00:00.000Z (in 2 h)",
    "pause review (in 2 h)",
    { kind: "pause", name: "review", until },
  ],
  [
    "a pause until another execution ends",
    "pause review, or the end of e2",
    "pause review, or the end of e2",
    { kind: "pause", name: "review", execution_id: "e2" },
  ],
  [
    "a sleep",
    "sleep until 2026-01-01T14:00:00.000Z (in 2 h)",
    "sleep (in 2 h)",
    { kind: "sleep", name: "sleep", until },
  ],
  [
    "a retry delay that is over",
    "retry of charge until 2026-01-01T11:00:00.000Z (due now)",
    "retry of charge (due now)",
    { kind: "retry", name: "charge", until: "2026-01-01T11:00:00.000Z" },
  ],
  [
    "a child",
    "child shop/ship e2",
    "child shop/ship e2",
    { kind: "child", name: "shop/ship", execution_id: "e2" },
  ],
  [
    "a signal with a time limit",
    "signal address, until 2026-01-01T14:00:00.000Z (in 2 h)",
    "signal address (in 2 h)",
    { kind: "signal", name: "address", until },
  ],
])("%s reads as %j, in a list as %j", (_, text, brief, wait) => {
  const open = { ...wait, task_call_id: "x~1" };
  expect([waitText(open, now), waitBrief(open, now)]).toEqual([text, brief]);
});

test("a cancelled execution says why; a fork says where it left its source", () => {
  const cancelled: ExecutionRecord = {
    ...failed,
    state: "CANCELLED",
    forked_from: { execution_id: "e1", seq: 12 },
    error: {
      code: "workflow_cancelled",
      message: "the execution was cancelled with its parent",
      details: { cause: "parent" },
    },
  };
  expect(failureSentence(cancelled)).toBe(
    "checkout v3: the execution was cancelled with its parent",
  );
  expect(
    executionView(cancelled, { paint: plain, now, columns: undefined }),
  ).toMatchInlineSnapshot(`
    "⊘ cancelled  checkout v3
      id            0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10
      created       5 min ago (2026-01-01T11:55:00.000Z)
      took          1.5 s
      forked from   e1, event 12
      input         {"id":"o1","cents":900}
      why           the execution was cancelled with its parent
    "
  `);
});

test("the lines of a failure's message stay lines, where it is shown and where it is told", () => {
  const diverged: ExecutionRecord = {
    ...failed,
    error: executionError(
      failure(
        "NondeterminismError",
        "replay diverged at position 1\n  expected  charge~1\n  found     ship~1",
      ),
    ),
  };
  expect(executionView(diverged, { paint: plain, now, columns: undefined })).toMatch(
    / error {5}NondeterminismError: replay diverged at position 1\n {14}expected {2}charge~1\n {14}found {5}ship~1\n/,
  );
  expect(failureSentence(diverged)).toBe(
    "checkout v3 failed: NondeterminismError: replay diverged at position 1",
  );
});

test("a failed execution shows type, message, causes and the call it happened in", () => {
  expect(executionView(failed, { paint: plain, now, columns: undefined })).toMatchInlineSnapshot(`
    "✗ failed  checkout v3
      id        0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10
      created   5 min ago (2026-01-01T11:55:00.000Z)
      took      1.5 s
      input     {"id":"o1","cents":900}
      error     PaymentError: the card was declined
                caused by Error: HTTP 402
                in call charge~1, after 3 attempts
    "
  `);
});

const many: ExecutionRecord[] = [
  paused,
  {
    ...failed,
    execution_id: "0198c2f4-5b7a-7c30-9d7e-3f1b8a6c2d10",
    workflow: "quarterly_settlement_of_accounts",
  },
  { ...paused, execution_id: "0198c2f0-1b7a-7000-9d7e-3f1b8a6c2d10", name: "東京の注文\nof\tada" },
];

test("a list fits 80 columns: state, workflow, as much of an id as is needed, age, duration, reason", () => {
  expect(executionTable(many, { paint: plain, now, columns: 80 })).toMatchInlineSnapshot(`
    "STATE     WORKFLOW           ID                  AGE    TOOK   REASON
    ‖ paused  shop/checkout v3…  0198c2f4-5b7a-7c31  5 min         pause review
    ✗ failed  quarterly_settle…  0198c2f4-5b7a-7c30  5 min  1.5 s  PaymentError: th…
    ‖ paused  shop/checkout v3…  0198c2f0-1b7a-7000  5 min         pause review
    "
  `);
});

test("in a wide terminal, and with --wide, nothing is cut; --wide has whole ids and more columns", () => {
  expect(executionTable(many, { paint: plain, now, columns: 160 })).toMatchInlineSnapshot(`
    "STATE      WORKFLOW                                 ID                   AGE     TOOK    REASON
    ‖ paused   shop/checkout v3 (order-17)              0198c2f4-5b7a-7c31   5 min           pause review
    ✗ failed   quarterly_settlement_of_accounts v3      0198c2f4-5b7a-7c30   5 min   1.5 s   PaymentError: the card was declined
    ‖ paused   shop/checkout v3 (東京の注文\\nof\\tada)   0198c2f0-1b7a-7000   5 min           pause review
    "
  `);
  expect(executionTable(many, { paint: plain, now, columns: undefined })).toMatchInlineSnapshot(`
    "STATE      WORKFLOW                                 ID                                     CREATED                                TOOK    WORKER   REASON
    ‖ paused   shop/checkout v3 (order-17)              0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10   5 min ago (2026-01-01T11:55:00.000Z)                    pause review
    ✗ failed   quarterly_settlement_of_accounts v3      0198c2f4-5b7a-7c30-9d7e-3f1b8a6c2d10   5 min ago (2026-01-01T11:55:00.000Z)   1.5 s            PaymentError: the card was declined
    ‖ paused   shop/checkout v3 (東京の注文\\nof\\tada)   0198c2f0-1b7a-7000-9d7e-3f1b8a6c2d10   5 min ago (2026-01-01T11:55:00.000Z)                    pause review
    "
  `);
});

test("in the narrowest terminal a row is still one line, and the state is whole", () => {
  const rows = executionTable(many, { paint: plain, now, columns: 20 }).trimEnd().split("\n");
  expect(rows).toHaveLength(4);
  expect(rows[2]).toMatch(/^✗ failed {2}quarterly_set… {2}0198c2f4-5b7a-7c30/);
});

test("a log prints a line per event, with values cut to the terminal", () => {
  const event = { source_id: "charge~1", name: "charge", kind: null, meta: null, recorded_at: "" };
  const log = [
    {
      ...event,
      seq: 1,
      type: "WORKFLOW_STARTED" as const,
      name: "checkout",
      value: 1,
      time: "2026-01-01 11:55:00.020",
    },
    {
      ...event,
      seq: 2,
      type: "TASK_COMPLETED" as const,
      value: "x".repeat(200),
      time: "2026-01-01 11:55:00.021",
    },
  ];
  expect(eventTable(log, { paint: plain, now, columns: 110 })).toMatchInlineSnapshot(`
    "SEQ   TIME (UTC)                TYPE               CALL       VALUE
    1     2026-01-01 11:55:00.020   WORKFLOW_STARTED   checkout   1
    2     2026-01-01 11:55:00.021   TASK_COMPLETED     charge~1   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    "
  `);
});

test("a source problem shows the line with a caret below the column", () => {
  const problem = {
    file: "a.ts",
    line: 4,
    column: 8,
    rule: "not_static",
    message: "must be static",
  };
  expect(problemText(problem, "\tname: process.env.X,", plain)).toMatchInlineSnapshot(`
    "a.ts:4:8 not_static must be static
        4 | 	name: process.env.X,
          | 	      ^
    "
  `);
});

test("colours need a terminal, and NO_COLOR switches them off", () => {
  const tty = { isTTY: true, write() {}, columns: 80 };
  expect(forTerminal(painter(tty, {})("failed", "x"))).toBe("\u001b[31mx\u001b[39m");
  expect(painter(tty, { NO_COLOR: "1" })("failed", "x")).toBe("x");
  expect(plain("failed", "x")).toBe("x");
});

test.each([
  [3, "3 ms"],
  [1_520, "1.5 s"],
  [12_400, "12 s"],
  [185_000, "3 min 5 s"],
  [7_200_000, "2 h"],
  [187_200_000, "2 d 4 h"],
])("%i ms reads as %s", (ms, text) => expect(elapsed(ms)).toBe(text));

test("a value on one line is cut with the cut marked", () => {
  expect(valueLine({ a: "long enough to be cut" }, 12)).toBe('{"a":"long …');
});

import { expect, test } from "vitest";
import type { ClientRequest, Evidence } from "../evidence.ts";
import { refusedStarts } from "./refused-starts.ts";
import { broken, type Draft } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const INPUT = { program: { kind: "sequence", parts: [] }, path: "r", number: 7 };

/** An execution that has the one place, and gives it back or not; and what is asked beside it. */
function strict(
  { back, more }: { readonly back?: number; readonly more?: (of: Draft<Evidence>) => void },
  workflow = "strict_program",
) {
  return refusedStarts(
    broken((evidence) => {
      const [claim] = evidence.commits;
      evidence.commits.length = 0;
      const add = (execution_id: string, moment: number, over: object) => {
        const at = BEGAN + moment;
        const span = { began: at, settled: at };
        const row = { ...claim.row, execution_id, workflow, ...over };
        evidence.commits.push({ ...claim, at, span, execution_id, row } as never);
      };
      add("e8", 100, {});
      if (back !== undefined) add("e8", back, { session: null, state: "COMPLETED" });
      evidence.requests.length = 0;
      more?.(evidence);
    }),
  );
}

function refusal(asked_at: number, answered_at: number, workflow = "strict_program") {
  return ({ requests }: Draft<Evidence>) => {
    const of = { workflow, input: INPUT, key: null, required_worker: null, mode: "async" } as const;
    const request: ClientRequest = {
      ...{ client: "c1", asked_at: BEGAN + asked_at, answered_at: BEGAN + answered_at },
      ...{ deliveries: 1, asked: { kind: "start", ...of } },
      answer: { kind: "refused", status: 429, code: "concurrency_limited" },
    };
    requests.push(request as never);
  };
}

test("I16 FLW-1 a start that is refused while all places are taken is right", () => {
  expect(strict({ more: refusal(200, 210) })).toEqual([]);
  // It may have been asked about just before the place was given back, or just behind it was taken.
  expect(strict({ back: 205, more: refusal(200, 210) })).toEqual([]);
  expect(strict({ more: refusal(95, 105) })).toEqual([]);
});

test("I16 FLW-1 a start that is refused while there is a place is found", () => {
  const message = expect.stringContaining("no more than 0 of 1 were taken");
  expect(strict({ more: refusal(50, 60) })).toMatchObject([{ invariant: "I16", message }]);
  expect(strict({ back: 150, more: refusal(200, 210) })).toMatchObject([{ message }]);
});

test("I16 FLW-1 a start that was to wait, and is refused, is found", () => {
  const message = expect.stringContaining("which it was to wait for");
  expect(strict({ more: refusal(200, 210, "seated_program") })).toMatchObject([{ message }]);
});

test("I16 FLW-1 what is created while all places are taken is found, but not behind them", () => {
  const created = (moment: number) => (evidence: Draft<Evidence>) => {
    const [first] = evidence.commits;
    const at = BEGAN + moment;
    const of = { at, span: { began: at, settled: at }, execution_id: "e9" };
    evidence.commits.push({ ...first, ...of } as never);
  };
  expect(strict({ more: created(200) })).toMatchObject([
    { execution_id: "e9", message: expect.stringContaining("when 1 of 1 places were taken") },
  ]);
  expect(strict({ back: 150, more: created(200) })).toEqual([]);
  expect(strict({ more: created(200) }, "seated_program")).toEqual([]);
});

test("I16 FLW-1 an execution of a start that was refused is found, unless it was asked for once more", () => {
  const left = (evidence: Draft<Evidence>) => {
    refusal(200, 210)(evidence);
    Object.assign(evidence.executions[0].row, { workflow: "strict_program", input: INPUT });
  };
  expect(strict({ more: left })).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("and there it is") },
  ]);
  const again = (evidence: Draft<Evidence>) => {
    left(evidence);
    const [request] = evidence.requests;
    evidence.requests.push({ ...request, answer: { kind: "unknown" }, answered_at: null } as never);
  };
  expect(strict({ more: again })).toEqual([]);
});

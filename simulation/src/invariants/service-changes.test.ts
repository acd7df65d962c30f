import { expect, test } from "vitest";
import type { Evidence, ServiceAsked } from "../evidence.ts";
import { serviceChanges } from "./service-changes.ts";
import { broken, type Draft, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const MADE = BEGAN + 1_000;
const EXCLUDED = BEGAN + 10_000;

/** A service of two programs, one of which is excluded later. */
function judged(...asked: readonly Partial<ServiceAsked>[]) {
  const edit = ({ services, resolutions }: Draft<Evidence>) => {
    services.push({ at: MADE, offers: ["program", "heavy_program"] });
    services.push({ at: EXCLUDED, offers: ["heavy_program"] });
    for (const one of asked) {
      const { began_at = BEGAN } = one;
      const plain = { server: "s1", workflow: "program", answer: "offered" } as const;
      resolutions.push({ ...plain, ended_at: began_at + 10, ...one, began_at });
    }
  };
  return serviceChanges(broken(edit));
}

test("SVC-5 what is answered as it is, or was a second ago, is right", () => {
  expect(serviceChanges(sampleEvidence())).toEqual([]);
  expect(
    judged(
      { began_at: BEGAN + 500, answer: "no_service" },
      { began_at: MADE + 1_200, answer: "no_service" },
      { began_at: MADE + 5_000 },
      { began_at: EXCLUDED - 5, ended_at: EXCLUDED + 5, answer: "not_offered" },
      { began_at: EXCLUDED + 1_200 },
      { began_at: EXCLUDED + 9_000, answer: "not_offered" },
      { began_at: EXCLUDED + 9_000, workflow: "heavy_program" },
    ),
  ).toEqual([]);
});

test("SVC-5 an answer by what is not so any more is found, and one by what was never so", () => {
  const [late] = judged({ began_at: EXCLUDED + 1_251 });
  expect(late).toMatchObject({
    invariant: "SVC-5",
    message: expect.stringContaining("not_offered"),
  });
  expect(judged({ began_at: MADE + 5_000, answer: "no_service" })).toHaveLength(1);
  expect(judged({ began_at: BEGAN, answer: "offered" })).toHaveLength(1);
  expect(judged({ began_at: EXCLUDED - 5_000, answer: "not_offered" })).toHaveLength(1);
});

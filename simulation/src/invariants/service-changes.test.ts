import { expect, test } from "vitest";
import type { Evidence, OfferChange, OfferDeed, ServiceAsked } from "../evidence.ts";
import { serviceChanges } from "./service-changes.ts";
import { broken, type Draft, sampleEvidence } from "./testing/sample-evidence.ts";
import { BEGAN } from "./testing/told.ts";

const MADE = BEGAN + 1_000;
const EXCLUDED = BEGAN + 10_000;
const FIRST = BEGAN + 20_000;
const SECOND = BEGAN + 30_000;
const COLLIDES = BEGAN + 40_000;
const CLEARED = BEGAN + 50_000;
const GONE = BEGAN + 60_000;
const DELETED = BEGAN + 70_000;

const CHOICE = {
  namespaces: ["east", "west"],
  workflows: ["default/program", "default/heavy_program"],
};

function service(at: number, ...exclusions: string[]): OfferChange {
  return { at, process: "s1-1", kind: "service", choice: { ...CHOICE, exclusions } };
}

function workflow(at: number, ref: string, latest: number | null): OfferChange {
  const [namespace = "", name = ""] = ref.split("/");
  return { at, process: "s1-1", kind: "workflow", namespace, name, latest };
}

/**
 * A service of two programs, one of which is excluded later; then of a guest, which gets a second
 * version, collides with one of another namespace, is the only one again when that is excluded, and goes.
 */
const OFFERS: readonly OfferChange[] = [
  workflow(BEGAN, "default/program", 2),
  workflow(BEGAN, "default/heavy_program", 2),
  service(MADE),
  service(EXCLUDED, "default/program"),
  workflow(FIRST, "east/guest", 1),
  workflow(SECOND, "east/guest", 2),
  workflow(COLLIDES, "west/guest", 1),
  service(CLEARED, "default/program", "west/guest"),
  workflow(GONE, "east/guest", null),
  { at: DELETED, process: "s1-1", kind: "service", choice: null },
];

interface Also {
  readonly deeds?: readonly OfferDeed[];
  readonly offers?: readonly OfferChange[];
}

function judged(
  asked: readonly Partial<ServiceAsked>[],
  { deeds = [], offers = OFFERS }: Also = {},
): readonly { readonly message: string }[] {
  const edit = ({ resolutions, ...evidence }: Draft<Evidence>) => {
    evidence.offers.push(...(structuredClone(offers) as Draft<OfferChange>[]));
    evidence.offer_deeds.push(...deeds);
    for (const { began_at = BEGAN, ...one } of asked) {
      const plain = { process: "s2-1", workflow: "program", starts: false } as const;
      const answer = "default/program v2";
      resolutions.push({ ...plain, answer, began_at, ended_at: began_at + 10, ...one });
    }
  };
  return serviceChanges(broken(edit));
}

const guest = { workflow: "guest" };

test("SVC-5 what is answered as it is, or was a second ago, is right", () => {
  expect(serviceChanges(sampleEvidence())).toEqual([]);
  const right: readonly Partial<ServiceAsked>[] = [
    { began_at: BEGAN + 500, answer: "no_service" },
    { began_at: MADE + 1_200, answer: "no_service" },
    { began_at: MADE + 5_000 },
    { began_at: EXCLUDED - 5, ended_at: EXCLUDED + 5, answer: "not_offered" },
    { began_at: EXCLUDED + 1_200 },
    { began_at: EXCLUDED + 9_000, answer: "not_offered" },
    { began_at: EXCLUDED + 9_000, workflow: "heavy_program", answer: "default/heavy_program v2" },
    { ...guest, began_at: FIRST - 100, answer: "not_offered" },
    { ...guest, began_at: FIRST + 1_200, answer: "not_offered" },
    { ...guest, began_at: FIRST + 2_000, answer: "east/guest v1" },
    { ...guest, began_at: SECOND + 1_200, answer: "east/guest v1" },
    { ...guest, began_at: SECOND + 1_200, answer: "east/guest v2" },
    { ...guest, began_at: COLLIDES + 2_000, answer: "name_collision" },
    { ...guest, began_at: CLEARED + 1_200, answer: "name_collision" },
    { ...guest, began_at: CLEARED + 2_000, answer: "east/guest v2" },
    { ...guest, began_at: GONE + 2_000, answer: "not_offered" },
    { ...guest, began_at: DELETED + 2_000, answer: "no_service" },
  ];
  expect(judged(right)).toEqual([]);
});

test("SVC-5 an answer by what is not so any more is found, and one by what was never so", () => {
  const wrong: readonly Partial<ServiceAsked>[] = [
    { began_at: EXCLUDED + 1_251 },
    { began_at: MADE + 5_000, answer: "no_service" },
    { began_at: BEGAN },
    { began_at: EXCLUDED - 5_000, answer: "not_offered" },
    { ...guest, began_at: FIRST + 1_251, answer: "not_offered" },
    { ...guest, began_at: SECOND + 1_251, answer: "east/guest v1" },
    { ...guest, began_at: SECOND - 100, answer: "east/guest v2" },
    { ...guest, began_at: COLLIDES + 1_251, answer: "east/guest v2" },
    { ...guest, began_at: COLLIDES + 2_000, answer: "west/guest v1" },
    { ...guest, began_at: CLEARED + 1_251, answer: "name_collision" },
    { ...guest, began_at: GONE + 1_251, answer: "east/guest v2" },
    { ...guest, began_at: DELETED + 1_251, answer: "not_offered" },
  ];
  for (const one of wrong) expect(judged([one]), JSON.stringify(one)).toHaveLength(1);
  const [late] = judged([{ began_at: EXCLUDED + 1_251 }]);
  expect(late).toMatchObject({
    invariant: "SVC-5",
    message: expect.stringContaining("it was not_offered then"),
  });
});

test("SVC-5 what a server has acknowledged counts there at once", () => {
  const deed = { process: "s1-1", began_at: SECOND - 10, done_at: SECOND + 10 };
  const stale = { ...guest, process: "s1-1", answer: "east/guest v1" } as const;
  expect(judged([{ ...stale, began_at: SECOND + 9 }], { deeds: [deed] })).toEqual([]);
  expect(judged([{ ...stale, began_at: SECOND + 10 }], { deeds: [deed] })).toHaveLength(1);
  const elsewhere = { ...stale, process: "s2-1", began_at: SECOND + 10 };
  expect(judged([elsewhere], { deeds: [deed] })).toEqual([]);
  // Of two at a time nobody can say which of them has made the change.
  const beside = { process: "s1-1", began_at: SECOND, done_at: null };
  expect(judged([{ ...stale, began_at: SECOND + 10 }], { deeds: [deed, beside] })).toEqual([]);
});

test("SVC-5 a start that finds a name at one moment and its version at another is right", () => {
  const moved = [
    service(MADE),
    workflow(MADE, "east/guest", 1),
    workflow(FIRST, "west/guest", 1),
    workflow(FIRST + 5, "east/guest", null),
  ];
  const meanwhile = { ...guest, began_at: FIRST - 2, ended_at: FIRST + 8 };
  const asked = { ...meanwhile, answer: "not_offered" } as const;
  expect(judged([asked], { offers: moved })).toHaveLength(1);
  expect(judged([{ ...asked, starts: true }], { offers: moved })).toEqual([]);
});

import type { Evidence, ServiceAsked, ServiceChange } from "../evidence.ts";
import type { Violation } from "./violation.ts";

/** No request is answered by what was so before a change that is older than this (SVC-5, AUTH-57). */
const KNOWN_MS = 1_000;
/** A server's clock runs a little fast or slow, and it takes a moment to look at it. */
const CLOCK_MS = 250;

type Answer = ServiceAsked["answer"];

/**
 * What a service offers is looked up for every request, and a
 * change that is over a second old counts, whatever news of it was lost.
 */
export function serviceChanges({ services, resolutions }: Evidence): readonly Violation[] {
  return resolutions.flatMap((asked) => {
    const { server, began_at, ended_at, workflow, answer } = asked;
    const since = began_at - KNOWN_MS - CLOCK_MS;
    const right = answersBetween(services, { workflow, since, until: ended_at });
    if (right.has(answer)) return [];
    const message = `${server} was asked for ${workflow} at ${began_at} and said ${answer}; since ${since} it was ${[...right].join(" or ")}`;
    return [{ invariant: "SVC-5" as const, execution_id: null, message }];
  });
}

/** All that was so at any moment of a time. */
function answersBetween(
  changes: readonly ServiceChange[],
  { workflow, since, until }: { readonly workflow: string; since: number; until: number },
): ReadonlySet<Answer> {
  const before = changes.findLast(({ at }) => at <= since);
  const during = changes.filter(({ at }) => at > since && at <= until);
  return new Set([
    answerOf(before, workflow),
    ...during.map((change) => answerOf(change, workflow)),
  ]);
}

function answerOf(change: ServiceChange | undefined, workflow: string): Answer {
  if (!change?.offers) return "no_service";
  return change.offers.includes(workflow) ? "offered" : "not_offered";
}

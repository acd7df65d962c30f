import type { Evidence, OfferChange, OfferDeed, ServiceAnswer, ServiceAsked } from "../evidence.ts";
import type { Violation } from "./violation.ts";

/** No request is answered by what was so before a change that is older than this (SVC-5, AUTH-57). */
const KNOWN_MS = 1_000;
/** A server's clock runs a little fast or slow, and it takes a moment to look at it. */
const CLOCK_MS = 250;

type Choice = Extract<OfferChange, { kind: "service" }>["choice"];

/** What a service was, and what there was to choose. */
interface State {
  readonly choice: Choice;
  readonly latest: ReadonlyMap<string, LiveWorkflow>;
}

interface LiveWorkflow {
  readonly ref: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
}

/**
 * What a service offers is looked up for every request: a change that is over a second old counts,
 * whatever news of it was lost, and one that the same server has acknowledged counts at once. So each
 * answer is that of some moment since then.
 */
export function serviceChanges(evidence: Evidence): readonly Violation[] {
  const { offers, resolutions } = evidence;
  const states = statesOf(offers);
  return resolutions.flatMap((asked) => {
    const { process, began_at, ended_at, workflow, starts, answer } = asked;
    const since = knownBefore(asked, evidence);
    const until = offers.findLastIndex(({ at }) => at <= ended_at);
    const right = answersIn(states.slice(since + 1, until + 2), asked);
    if (right.has(answer)) return [];
    const deed = starts ? "start" : "look up";
    const message = `${process} was asked at ${began_at} to ${deed} ${workflow} and said ${answer} at ${ended_at}; it was ${[...right].join(" or ")} then`;
    return [{ invariant: "SVC-5" as const, execution_id: null, message }];
  });
}

/** Before the first change, and behind each of them. */
function statesOf(offers: readonly OfferChange[]): readonly State[] {
  const states: State[] = [{ choice: null, latest: new Map() }];
  for (const change of offers) {
    const before = states.at(-1) as State;
    if (change.kind === "service") {
      states.push({ ...before, choice: change.choice });
      continue;
    }
    const { namespace, name, latest: version } = change;
    const ref = `${namespace}/${name}`;
    const latest = new Map(before.latest);
    if (version === null) latest.delete(ref);
    else latest.set(ref, { ref, namespace, name, version });
    states.push({ ...before, latest });
  }
  return states;
}

/** The number of the last change that a request has to know of; -1: none. */
function knownBefore(
  { process, began_at }: ServiceAsked,
  { offers, offer_deeds }: Pick<Evidence, "offers" | "offer_deeds">,
): number {
  const old = offers.findLastIndex(({ at }) => at <= began_at - KNOWN_MS - CLOCK_MS);
  const own = offer_deeds.flatMap((deed) => {
    const { done_at } = deed;
    if (deed.process !== process || done_at === null || done_at > began_at) return [];
    if (isBesideOthers(deed, offer_deeds)) return [];
    return offers.findIndex((change) => {
      return change.process === process && change.at >= deed.began_at && change.at <= done_at;
    });
  });
  return Math.max(old, ...own);
}

/** Whether it cannot be told apart from what was asked of the same server meanwhile. */
function isBesideOthers(deed: OfferDeed, deeds: readonly OfferDeed[]): boolean {
  const { process, began_at, done_at } = deed;
  return deeds.some((other) => {
    if (other === deed || other.process !== process) return false;
    return other.began_at <= (done_at ?? Infinity) && (other.done_at ?? Infinity) >= began_at;
  });
}

function answersIn(
  states: readonly State[],
  { workflow, starts }: ServiceAsked,
): ReadonlySet<ServiceAnswer> {
  const resolved = states.map((state) => resolvedIn(state, workflow));
  const right = new Set(resolved.map((one) => (typeof one === "string" ? one : answerOf(one))));
  if (!starts) return right;
  // What the name stands for is one question, and which version that has now is another one.
  for (const one of resolved) {
    if (typeof one === "string") continue;
    for (const { latest } of states) right.add(answerOf(latest.get(one.ref)));
  }
  return right;
}

function answerOf(live: LiveWorkflow | undefined): ServiceAnswer {
  return live ? `${live.namespace}/${live.name} v${live.version}` : "not_offered";
}

/** What a name of the service stands for. */
function resolvedIn(
  { choice, latest }: State,
  name: string,
): LiveWorkflow | "no_service" | "not_offered" | "name_collision" {
  if (!choice) return "no_service";
  const chosen = [...latest.values()].filter((live) => {
    const isChosen =
      choice.namespaces.includes(live.namespace) || choice.workflows.includes(live.ref);
    return live.name === name && isChosen && !choice.exclusions.includes(live.ref);
  });
  if (chosen.length > 1) return "name_collision";
  return chosen[0] ?? "not_offered";
}

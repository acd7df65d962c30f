import { type ExecutionSummary, isOutcome, isTerminal, type RecordedEvent } from "@engine/contract";
import { until } from "../harness/until.ts";
import { listExecutions, untilAllEnded } from "../kill/all-executions.ts";
import { type BodyRun, type BodyRuns, readBodyRuns } from "../kill/body-lines.ts";
import { bodyViolations, callsOf, logViolations } from "../kill/violations.ts";
import { waitViolations } from "../kill/wait-violations.ts";
import { outOfTouch } from "./contacts.ts";
import type { Ledger } from "./ledger.ts";
import type { Plant } from "./plant.ts";

const END_MS = 30_000;
const REST_MS = 15_000;

/** What is wrong after a workload, whatever died under it; looks at executions it has not seen yet. */
export class Judge {
  readonly #plant: Plant;
  readonly #seen = new Set<string>();

  constructor(plant: Plant) {
    this.#plant = plant;
  }

  async verdict(ledger: Ledger): Promise<readonly string[]> {
    const { engine } = this.#plant;
    await untilAllEnded(engine, END_MS);
    const all = (await listExecutions(engine)).filter((one) => !this.#seen.has(one.execution_id));
    for (const { execution_id } of all) this.#seen.add(execution_id);
    const bodies = await readBodyRuns(this.#plant.file).catch(() => new Map() as BodyRuns);
    const violations = [...ledger.violations, ...this.#plant.unexplained()];
    violations.push(...missing(ledger, all), ...counted(ledger, all), ...families(all));
    for (const one of all) {
      const log = await engine.http.log(one.execution_id);
      const wrongs = [
        ...(await this.#outcome(ledger, one)),
        ...wrongInLog(log, one),
        ...waitViolations(log, ledger.sent.get(one.execution_id)),
        ...this.#bodies(log, bodies, one),
      ];
      const of = `${one.workflow} ${one.execution_id}`;
      violations.push(...wrongs.map((wrong) => `${of}: ${wrong}\n${story(log)}`));
    }
    violations.push(...(await this.#rest()));
    return violations;
  }

  async #outcome(ledger: Ledger, one: ExecutionSummary): Promise<readonly string[]> {
    const { execution_id } = one;
    const expected = ledger.expected.get(execution_id);
    if (!isTerminal(one.state) || one.worker !== null || one.waiting.length > 0) {
      return [`${one.state}, of ${one.worker}, waits for ${JSON.stringify(one.waiting)}`];
    }
    if (!expected) return [];
    const { state, output } = await this.#plant.engine.http.execution(execution_id);
    const isRight = state === expected.state && (expected.output ?? null) === (output ?? null);
    return isRight ? [] : [`${state} with ${output}, not ${expected.state} ${expected.output}`];
  }

  #bodies(
    log: readonly RecordedEvent[],
    bodies: BodyRuns,
    { execution_id, state, forked_from }: ExecutionSummary,
  ): readonly string[] {
    const kills = this.#plant.kills();
    const deaths = kills.filter(({ target }) => target === "server");
    const absences = [...kills, ...outOfTouch(this.#plant.home.path, deaths)];
    const runs = bodies.get(execution_id) ?? new Map<string, readonly BodyRun[]>();
    const calls = callsOf(log);
    const wrong = [...runs].flatMap(([call, ran]) => {
      const events = calls.get(call);
      // Nothing was recorded of it when its worker died, and the cancel came first.
      if (!events && state === "CANCELLED" && kills.some(({ pid }) => pid === ran[0]?.pid)) {
        return [];
      }
      const outcome = events?.find(({ type }) => isOutcome(type));
      return bodyViolations(ran, outcome, absences).map((what) => `${call}: ${what}`);
    });
    for (const [call, events] of calls) {
      const isDone = events[0]?.name === "book" && events.at(-1)?.type === "TASK_COMPLETED";
      const isCopied = forked_from !== null && !runs.has(call);
      if (isDone && !isCopied && !runs.has(call)) wrong.push(`${call}: its body never ran`);
    }
    return wrong;
  }

  /** Nothing is claimed or counted as running once all is over. */
  async #rest(): Promise<readonly string[]> {
    const busy = async () => {
      const { body } = await this.#plant.engine.http.get<{ items: Load[] }>("/workers?limit=1000");
      return body.items.filter(({ load }) => load > 0);
    };
    const isFree = async () => (await busy()).length === 0;
    return await until("no worker holds anything", isFree, REST_MS).then(
      () => [],
      async () => [`still held when all had ended: ${JSON.stringify(await busy())}`],
    );
  }
}

interface Load {
  readonly name: string;
  readonly load: number;
}

/** An acknowledged start that is not there any more. */
function missing({ expected }: Ledger, all: readonly ExecutionSummary[]): readonly string[] {
  const known = new Set(all.map(({ execution_id }) => execution_id));
  return [...expected.keys()].filter((id) => !known.has(id)).map((id) => `${id} is lost`);
}

function wrongInLog(
  log: readonly RecordedEvent[],
  { state, forked_from }: ExecutionSummary,
): readonly string[] {
  const wrong = logViolations(log, forked_from?.seq);
  // A child may be cancelled before any worker had it.
  return wrong.filter((what) => state !== "CANCELLED" || what !== "0 WORKFLOW_STARTED");
}

/** Every key made one execution; what has no key made one for each request that arrived. */
function counted(ledger: Ledger, all: readonly ExecutionSummary[]): readonly string[] {
  const wrong: string[] = [];
  const roots = all.filter(({ parent_id }) => parent_id === null).length;
  const { keys, planned, unkeyed } = ledger;
  const least = keys + planned + unkeyed.answered;
  const most = keys + planned + unkeyed.sent;
  if (roots < least || roots > most) wrong.push(`${roots} executions, not ${least} to ${most}`);
  return wrong;
}

/** Each parent has one child of its one call. */
function families(all: readonly ExecutionSummary[]): readonly string[] {
  const children = all.filter(({ parent_id }) => parent_id !== null);
  const byCall = Map.groupBy(children, (one) => `${one.parent_id} ${one.parent_call_id}`);
  const doubled = [...byCall].filter(([, of]) => of.length > 1);
  return doubled.map(([call, of]) => `${call} has ${of.length} children`);
}

function story(log: readonly RecordedEvent[]): string {
  const line = ({ seq, recorded_at, type, source_id, value }: RecordedEvent) =>
    `    ${seq} ${recorded_at} ${type} ${source_id} ${JSON.stringify(value)?.slice(0, 120)}`;
  return log.map(line).join("\n");
}

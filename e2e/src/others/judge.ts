import type { ExecutionSummary, History, RecordedEvent } from "@engine/contract";
import { listExecutions } from "../kill/all-executions.ts";
import { logViolations } from "../kill/violations.ts";
import { waitViolations } from "../kill/wait-violations.ts";
import { endOf, endViolations } from "./end-violations.ts";
import { Families } from "./families.ts";
import { distinctNotes, type Ends, noteViolations } from "./note-violations.ts";
import type { Replayer } from "./replayer.ts";
import type { Run } from "./run-program.ts";
import type { Stage } from "./stage.ts";

/** What became of one run of a program. */
export interface Verdict {
  readonly name: string;
  /** Empty when everything is as it must be. */
  readonly wrong: readonly string[];
  /** Of all that came of it. */
  readonly executions: readonly string[];
  /** Notes of that of its executions which has most. */
  readonly notes: number;
  /** The logs of what is wrong. */
  readonly story: string;
}

/** Judges runs of programs once all of them are over. */
export class Judge {
  /** Those that the code of the programs can be tried on. */
  readonly histories: History[] = [];
  readonly #stage: Stage;
  readonly #replayer: Replayer;
  readonly #families: Families;
  readonly #ends: Ends;

  private constructor(parts: {
    stage: Stage;
    replayer: Replayer;
    families: Families;
    ends: Ends;
  }) {
    this.#stage = parts.stage;
    this.#replayer = parts.replayer;
    this.#families = parts.families;
    this.#ends = parts.ends;
  }

  static async convene(stage: Stage, replayer: Replayer): Promise<Judge> {
    const families = new Families(await listExecutions(stage.engine));
    // A runner's process of its own is not one that the stage has started.
    const ends = new Map(stage.folder.doomedProcesses().map((pid) => [pid, 0]));
    for (const { pid, to } of stage.ends()) ends.set(pid, to);
    return new Judge({ stage, replayer, families, ends });
  }

  async verdict({ name, program, roots, broken }: Run): Promise<Verdict> {
    const { http } = this.#stage.engine;
    const wrong: string[] = broken === undefined ? [] : [broken];
    const family = this.#families.of(roots);
    const each = family.map(({ execution_id }) => this.#stage.folder.notesOf(execution_id));
    const notes = each.flat();
    const most = Math.max(0, ...each.map((own) => distinctNotes(own).length));
    const [first] = roots;
    if (first !== undefined && broken === undefined) {
      wrong.push(
        ...endViolations(program, endOf(await http.execution(first), distinctNotes(notes))),
      );
    }
    const logs = new Map<ExecutionSummary, readonly RecordedEvent[]>();
    for (const one of family) {
      const log = await http.log(one.execution_id);
      logs.set(one, log);
      const own = notes.filter(({ execution }) => execution === one.execution_id);
      const found = [
        ...(broken === undefined ? wrongInLog(log, one) : []),
        ...waitViolations(withoutCancelled(log), ANY_SIGNALS),
        ...noteViolations(own, log, this.#ends),
        ...(await this.#replayed(one)),
      ];
      wrong.push(...found.map((what) => `${one.workflow} ${one.execution_id}: ${what}`));
    }
    const story =
      wrong.length === 0 ? "" : [...logs].map(([one, log]) => told(one, log)).join("\n");
    const executions = family.map(({ execution_id }) => execution_id);
    return { name, wrong, executions, notes: most, story };
  }

  async #replayed({ execution_id }: ExecutionSummary): Promise<readonly string[]> {
    const path = `/executions/${execution_id}/history`;
    const { body } = await this.#stage.engine.http.get<History>(path);
    const { version, transient } = body.execution;
    // What a program registers by itself is not ours to replay.
    if (version !== 1 || transient) return [];
    this.histories.push(body);
    return this.#replayer.violations(body);
  }
}

/** How many signals were sent is not counted. */
const ANY_SIGNALS = { acknowledged: 0, tried: Number.POSITIVE_INFINITY };

/** A sleep that is given up may end at any time. */
function withoutCancelled(log: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return log.filter(({ type }) => type !== "TASK_CANCELLED");
}

function wrongInLog(
  log: readonly RecordedEvent[],
  { state, forked_from }: ExecutionSummary,
): readonly string[] {
  const wrong = logViolations(log, forked_from?.seq);
  // What is cancelled before any worker had it was never started.
  return wrong.filter((what) => state !== "CANCELLED" || what !== "0 WORKFLOW_STARTED");
}

function told(one: ExecutionSummary, log: readonly RecordedEvent[]): string {
  const { execution_id, workflow, state, worker, waiting } = one;
  const head = `  ${workflow} ${execution_id} ${state} ${worker} ${JSON.stringify(waiting)}`;
  const events = log.map(({ seq, recorded_at, type, source_id, value, meta }) => {
    const values = [value, meta].map((some) => JSON.stringify(some)?.slice(0, 160));
    return `    ${seq} ${recorded_at} ${type} ${source_id} ${values.join(" ")}`;
  });
  return [head, ...events].join("\n");
}

import type { ExecutionSummary } from "@engine/contract";
import type { Cancel, Look } from "./evidence.ts";
import type { ProgramPlan } from "./program-plan.ts";

/** On a machine that stood still for a while nothing can have changed. */
const LEAST_LOOKS = 40;

/** One program under way: its execution, with those that it called and those that were forked from it. */
export class Family {
  readonly plan: ProgramPlan;
  /** Milliseconds since 1970. */
  readonly began: number;
  readonly members: Set<string> = new Set();
  readonly cancels: Cancel[] = [];
  readonly looks: Look[] = [];
  /** Why it was given up. */
  stuck: string | null = null;
  /** Things that somebody is about to do to it, or is doing. */
  underWay = 0;
  /** Looks in a row that found nothing of it alive. */
  quiet = 0;
  /** What was asked for an answer, with the time at which it is given, and how often it was. */
  readonly answers: Map<string, { at: number; times: number }> = new Map();

  #version = "";
  #since = Date.now();
  #same = 0;

  constructor(plan: ProgramPlan, root: string) {
    this.plan = plan;
    this.began = Date.now();
    this.members.add(root);
  }

  /** Milliseconds in which nothing changed; who looks has to have seen that often enough. */
  stillFor(rows: readonly ExecutionSummary[]): number {
    const version = rows.map((row) => `${row.execution_id} ${row.updated_at}`).join();
    if (version !== this.#version) {
      [this.#version, this.#since, this.#same] = [version, Date.now(), 0];
      return 0;
    }
    this.#same++;
    return this.#same < LEAST_LOOKS ? 0 : Date.now() - this.#since;
  }
}

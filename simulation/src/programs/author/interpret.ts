/** Runs programs, as authors write them: what a body is given it takes for its own, and changes. */
import {
  call,
  graph,
  map,
  now,
  parallel,
  pause,
  pipeline,
  type RoutingInput,
  random,
  signal,
  sleep,
  TaskError,
  uuid,
  type Workflow,
} from "@engine/sdk";
import type { Hidden, LivelyStep, Program, ProgramInput, Step, TimerVia } from "../program.ts";
import type { Pass } from "./pass.ts";
import { copyOf } from "./spoil.ts";
import { STEPS, type StepInput } from "./steps.ts";
import { compute, taken } from "./surroundings.ts";

/** A pass, and what it calls for a child. */
export interface Interpretation {
  readonly pass: Pass;
  readonly child: Workflow<ProgramInput, unknown>;
  /** The routing input that goes with it. */
  readonly handed?: Hidden | undefined;
}

type Of<Kind extends Program["kind"]> = Extract<Program, { kind: Kind }>;
type WithParts = Extract<Program, { parts: unknown }>;
type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export async function interpret(p: Program, path: string, by: Interpretation): Promise<unknown> {
  const { pass, child } = by;
  const at = (part: number | string) => `${path}.${part}`;
  const within = (part: Program, i: number | string) => interpret(part, at(i), by);
  switch (p.kind) {
    case "step":
      return pass.saw("task", path, await STEPS[p.task](stepInput(p, path, pass)));
    case "sleep":
      await sleep(p.ms);
      return ["slept", path];
    case "timer":
      await timer(p.ms, p.via);
      return ["slept", path];
    case "pause": {
      const options = p.after_ms === null ? {} : { after: p.after_ms };
      const answer = pass.saw("pause", path, await pause(path, { output: { path }, ...options }));
      return [answer === undefined ? "nobody answered" : "answered", path];
    }
    case "signal": {
      const payload = pass.saw("signal", path, await signal(p.name, timeoutOf(p)));
      return [payload === undefined ? "no signal" : "signal", path];
    }
    case "inbox":
      return inbox(p, path, pass);
    case "queue":
      return queue(p, path, pass);
    case "naps":
      return naps(p, path);
    case "refused":
      return refused(p, path, by);
    case "history":
      pass.recalls(path);
      return ["history", path];
    case "child":
      return pass.saw(
        "child",
        path,
        await call(child, { program: p.part, path: at("c"), ...pass.bequest }, handing(by)),
      );
    case "spawn": {
      const options = { wait: false, detach: p.detach, ...handing(by) } as const;
      pass.saw(
        "child",
        path,
        await call(child, { program: p.part, path: at("c"), ...pass.bequest }, options),
      );
      return ["spawned", path];
    }
    case "recorded":
      pass.saw("recorded", path, [await now(), await random(), await random(1, 6), await uuid()]);
      return ["recorded", path];
    case "globals":
      pass.saw("recorded", path, [taken.random(), crypto.randomUUID(), taken.now()]);
      return ["recorded", path];
    case "sequence":
      return sequence(p, path, by);
    case "parallel":
      return pass.takes(path, await parallel(p.parts.map((part, i) => () => within(part, i))));
    case "settled":
      return settled(p, path, by);
    case "all":
      return Promise.all(p.parts.map(within));
    case "race":
      return Promise.race(p.parts.map(within));
    case "pipeline":
      return pass.takes(
        path,
        await pipeline(0, ...p.parts.map((part, i) => () => within(part, i))),
      );
    case "graph":
      return nodes(p, path, by);
    case "map": {
      const items = Array.from({ length: p.times }).keys();
      const { concurrency } = p;
      // Each item gets a part of its own, since a part is used up by running it.
      return pass.takes(path, await map(items, (i) => within(copyOf(p.part), i), { concurrency }));
    }
    case "attempt":
      try {
        return ["done", await within(p.part, 0)];
      } catch (error) {
        if (error instanceof TaskError) pass.suffers(path, error.failure);
        return ["caught", rootMessage(error)];
      }
    case "finally":
      try {
        return await within(p.part, 0);
      } finally {
        await STEPS.plain(stepInput(QUIET, at("f"), pass));
      }
    case "forgotten":
      within(p.part, 0).catch(() => {});
      return ["forgotten", path];
  }
}

function stepInput({ kind: _, ...step }: LivelyStep, path: string, pass: Pass): StepInput {
  return { ...step, path, told: pass.tell(path), ...pass.bequest };
}

function handing({ handed }: Interpretation): { routingInput?: RoutingInput } {
  return handed ? { routingInput: { ...handed } } : {};
}

function timeoutOf({ timeout_ms }: { readonly timeout_ms: number | null }): { timeout?: number } {
  return timeout_ms === null ? {} : { timeout: timeout_ms };
}

/** The message an author wrote, whatever calls it has come through. */
function rootMessage(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}

async function timer(ms: number, via: TimerVia = "callback"): Promise<void> {
  switch (via) {
    case "callback":
      await new Promise((resolve) => setTimeout(resolve, ms));
      return;
    case "interval":
      await new Promise<void>((resolve) => {
        const ticking = setInterval(() => {
          clearInterval(ticking);
          resolve();
        }, ms);
      });
      return;
    case "promisified":
      await taken.promisified(ms);
      return;
    case "promises":
      await taken.promises(ms);
      return;
  }
}

/** The input's own list, which is used up; one that is left alone by careful code. */
function listOf<Item>(given: readonly Item[], { careful }: Pass): Item[] {
  return careful ? [...given] : (given as Item[]);
}

async function sequence(p: WithParts, path: string, by: Interpretation): Promise<unknown> {
  const parts = listOf(p.parts, by.pass);
  const results: unknown[] = [];
  while (parts.length > 0) {
    const part = parts.shift() as Program;
    results.push(await interpret(part, `${path}.${results.length}`, by));
  }
  return results;
}

async function queue(p: Of<"queue">, path: string, pass: Pass): Promise<unknown> {
  const items = listOf(p.items, pass);
  const done: unknown[] = [];
  while (items.length > 0) {
    const place = `${path}.${items.shift()}`;
    done.push(pass.saw("task", place, await STEPS.plain(stepInput(QUIET, place, pass))));
  }
  return done;
}

async function inbox(given: Of<"inbox">, path: string, pass: Pass): Promise<unknown> {
  const p = (pass.careful ? { ...given } : given) as Mutable<Of<"inbox">>;
  const letters: unknown[] = [];
  while (p.count > 0) {
    p.count--;
    const place = `${path}.${letters.length}`;
    const payload = pass.saw("signal", place, await signal(p.name, timeoutOf(p)));
    letters.push(payload === undefined ? "no signal" : "signal");
    pass.saw("task", place, await STEPS.plain(stepInput(QUIET, place, pass)));
  }
  return [path, letters];
}

async function naps({ ms, busy_ms }: Of<"naps">, path: string): Promise<unknown> {
  const woken: number[] = [];
  const sleeping = ms.map((each, i) => sleep(each).then(() => woken.push(i)));
  compute(busy_ms);
  await Promise.all(sleeping);
  return [path, ...woken];
}

async function refused(
  { by: how }: Of<"refused">,
  path: string,
  by: Interpretation,
): Promise<unknown> {
  const value = (() => 1) as never;
  try {
    if (how === "call") await call(by.child, value);
    else if (how === "task") await STEPS.plain(value);
    else await pause(path, { output: value });
  } catch (error) {
    by.pass.learns(path, error instanceof Error && error.name);
    return ["refused", path];
  }
  return ["taken", path];
}

async function settled(p: WithParts, path: string, by: Interpretation): Promise<unknown> {
  const branches = p.parts.map((part, i) => () => interpret(part, `${path}.${i}`, by));
  const results = await parallel(branches, { settle: true });
  return results.map((one) => {
    if (one.status === "fulfilled") return ["ok", by.pass.takes(path, one.value)];
    by.pass.suffers(path, one.failure);
    return ["failed"];
  });
}

/** The first node is before all others, the last one behind them. */
async function nodes(p: WithParts, path: string, by: Interpretation): Promise<unknown> {
  const names = p.parts.map((_, i) => `n${i}`);
  const parts = p.parts.map((part, i) => ({
    after: i === 0 ? [] : ["n0"],
    run: () => interpret(part, `${path}.${i}`, by),
  }));
  const end = { after: names, run: () => "end" };
  const all = Object.fromEntries([...parts.map((node, i) => [`n${i}`, node]), ["end", end]]);
  const outputs: Record<string, unknown> = await graph("random", all)(null);
  return by.pass.takes(
    path,
    names.map((name) => outputs[name]),
  );
}

const QUIET: Step = {
  kind: "step",
  task: "plain",
  fails: 0,
  takes_ms: 1,
  nested: 0,
  progress: 0,
  flavour: "text",
  deaf: false,
};

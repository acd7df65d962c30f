import { setTimeout as delay } from "node:timers/promises";
import { isTerminal, type Why } from "@engine/contract";
import type { Command } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
} from "../arguments/execution-argument.ts";
import { examples } from "../examples.ts";
import type { CliIo } from "../io/cli-io.ts";
import { whyView } from "../render/why-view.ts";

interface WhyOptions extends ExecutionOptions {
  readonly watch?: boolean;
}

/** How often `--watch` asks. */
const EVERY_MS = 1_000;

export function addWhy(program: Command, io: CliIo): void {
  const command = program
    .command("why")
    .summary("Says why an execution waits.")
    .description(
      "Says why an execution waits, what would end the wait, and which workers come nearest to what it needs; of one that runs, what it does. The answer is that of the rules that give executions to workers, at this moment.",
    )
    .option("--watch", "ask again each second and print what has changed, until it has ended");
  actOnExecution(io, executionArgument(command), async (call, _, options: WhyOptions) => {
    const leaving = new AbortController();
    if (options.watch) void io.stopSignals().first.then(() => leaving.abort());
    await call(async ({ client, print }, id) => {
      let told: string | undefined;
      for (;;) {
        const why = await client.executions.why({ params: { id } });
        const news = newsOf(why);
        if (news !== told) print(why, whyView);
        told = news;
        if (!options.watch || isTerminal(why.state)) return;
        await delay(EVERY_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
        if (leaving.signal.aborted) return;
      }
    });
  });
  examples(command, [
    "why 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    "why --last --watch",
    "why --last --workflow shop/checkout --format json",
  ]);
}

/** What a reader would call a change: not how long ago something was. */
function newsOf({ state, reasons, workers, nearest, queue }: Why): string {
  const said = reasons.map(({ code, message }) => [code, message]);
  return JSON.stringify([state, said, workers, nearest, queue]);
}

/** The commands that make, change and delete hooks. */
import {
  HOOK_NAME_PATTERN,
  HOOK_NAME_RULE,
  type HookUpdate,
  PENDING_DROPPED_HEADER,
} from "@engine/contract";
import { type Command, InvalidArgumentError, Option } from "commander";
import { texts, wholeNumber } from "../../arguments/option-values.ts";
import { parseRef } from "../../arguments/workflow-ref.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { hookView } from "../../render/hook-view.ts";
import { callServer, onServer, type ServerOptions, serverOptions } from "../../server-call.ts";

interface CreateOptions {
  readonly on: readonly string[];
  readonly workflow: string;
  readonly principal: string;
  readonly maxAttempts?: number;
  readonly disabled?: boolean;
}

const ON = ["--on <selector>", "events that fire it, such as execution:billing:*:failed"] as const;
const WORKFLOW = ["--workflow <ref>", "what it runs, as NAME or NAMESPACE/NAME"] as const;
const PRINCIPAL = ["--principal <subject>", "the service account that runs it"] as const;
const MAX_ATTEMPTS = ["--max-attempts <n>", "tries of a delivery, 1 to 100"] as const;
const attempts = wholeNumber(1, 100);

export function addCreate(hook: Command, io: CliIo): void {
  const command = hook
    .command("create")
    .summary("Makes a hook.")
    .description(
      "Makes a hook: whenever an event matches one of its selectors, it runs a workflow as a service account, with the event as input.",
    )
    .argument("<name>", HOOK_NAME_RULE, hookName)
    .requiredOption(ON[0], `${ON[1]}; may be repeated`, texts)
    .requiredOption(WORKFLOW[0], WORKFLOW[1], reference)
    .requiredOption(...PRINCIPAL)
    .option(MAX_ATTEMPTS[0], `${MAX_ATTEMPTS[1]} (default: 5)`, attempts)
    .option("--disabled", "do not let it fire yet");
  onServer(io, command, async ({ client, print }, name: string, options: CreateOptions) => {
    const { on, workflow, principal, maxAttempts, disabled } = options;
    const body = {
      ...{ name, selectors: [...on], workflow, principal },
      ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
      ...(disabled && { enabled: false }),
    };
    print(await client.hooks.create({ body }), hookView);
  });
  examples(command, [
    "hook create page-on-failure --on execution:billing:*:failed --workflow ops/page --principal ops-bot",
    "hook create refunds --on task:billing:*:refund:completed --on task:billing:*:refund:failed --workflow ops/book --principal ops-bot --max-attempts 10",
  ]);
}

interface UpdateOptions extends ServerOptions, Partial<Omit<CreateOptions, "disabled">> {
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export function addUpdate(hook: Command, io: CliIo): void {
  const command = hook
    .command("update")
    .summary("Changes a hook.")
    .description("Changes a hook; what is not named stays as it is.")
    .argument("<name>", "name of the hook")
    .option(ON[0], `${ON[1]}; may be repeated, and replaces all`, texts)
    .option(WORKFLOW[0], WORKFLOW[1], reference)
    .option(...PRINCIPAL)
    .option(MAX_ATTEMPTS[0], MAX_ATTEMPTS[1], attempts)
    .addOption(new Option("--enable", "let it fire").conflicts("disable"))
    .addOption(new Option("--disable", "let it fire no more; what waits is given up"));
  serverOptions(command).action(async (name: string, options: UpdateOptions) => {
    const body = changesOf(options);
    if (Object.keys(body).length === 0) {
      throw new UsageError("say what to change, such as --disable or --on SELECTOR");
    }
    await callServer(io, options, async ({ client, print }) =>
      print(await client.hooks.update({ params: { name }, body }), hookView),
    );
  });
  examples(command, [
    "hook update page-on-failure --disable",
    "hook update page-on-failure --on execution:billing:*:failed --on execution:shop:*:failed",
  ]);
}

function changesOf(options: UpdateOptions): HookUpdate {
  const { on, workflow, principal, maxAttempts, enable, disable } = options;
  return {
    ...(on && { selectors: [...on] }),
    ...(workflow !== undefined && { workflow }),
    ...(principal !== undefined && { principal }),
    ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
    ...((enable || disable) && { enabled: enable === true }),
  };
}

const KEPT = "Executions that it has started stay and go on.";

export function addDelete(hook: Command, io: CliIo): void {
  const command = hook
    .command("delete")
    .summary("Deletes a hook with its deliveries.")
    .description(`Deletes a hook with its deliveries, those that wait too. ${KEPT}`)
    .argument("<name>", "name of the hook")
    .option("--yes", "do not ask");
  onServer(io, command, async ({ client, print }, name: string, { yes }: { yes?: boolean }) => {
    if (!yes) {
      const { status } = await client.hooks.get({ params: { name } });
      const what = `This deletes hook ${name}, and ${waiting(status.pending)}.`;
      await confirmLoss(io, { what, kept: KEPT, question: "Delete it?" });
    }
    const headers = await client.hooks.delete({ params: { name } });
    const pending_dropped = headers[PENDING_DROPPED_HEADER];
    const gone = `Deleted hook ${name}, and ${waiting(pending_dropped)}. ${KEPT}\n`;
    print({ name, deleted: true, pending_dropped }, () => gone);
  });
  examples(command, ["hook delete page-on-failure", "hook delete page-on-failure --yes"]);
}

function waiting(count: number): string {
  return count === 1 ? "1 delivery that waits" : `${count} deliveries that wait`;
}

function hookName(text: string): string {
  if (HOOK_NAME_PATTERN.test(text)) return text;
  throw new InvalidArgumentError(`Expected ${HOOK_NAME_RULE}.`);
}

/** As it was typed: a name alone is one of namespace `default` to the server, too. */
function reference(text: string): string {
  parseRef(text);
  return text;
}

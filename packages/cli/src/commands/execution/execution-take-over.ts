import type { Answer, routes } from "@engine/contract";
import type { Command } from "commander";
import {
  executionId,
  ID_HELP,
  type WorkflowFilter,
  workflowFilter,
  workflowQuery,
} from "../../arguments/execution-argument.ts";
import { confirmLoss } from "../../confirm-loss.ts";
import { examples } from "../../examples.ts";
import { Reported, UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { counted } from "../../render/counted.ts";
import { executionView } from "../../render/execution-view.ts";
import type { Screen } from "../../render/paint.ts";
import { lines, table } from "../../render/table.ts";
import {
  callServer,
  type ServerCall,
  type ServerOptions,
  serverOptions,
} from "../../server-call.ts";

interface Many {
  readonly runAs: string;
  readonly from?: string;
  readonly namespace?: string;
  readonly workflow?: WorkflowFilter;
  readonly yes?: boolean;
}

interface TakeOverOptions extends ServerOptions, Many {
  readonly all?: boolean;
}

type TakenOver = Answer<typeof routes.executions.takeOver>["body"];

export function addTakeOver(execution: Command, io: CliIo): void {
  const command = execution
    .command("take-over")
    .summary("Gives executions the rights of another principal.")
    .description(
      "Gives executions that have not ended the rights of a service account, or yours: one by its id, or --all of a principal, by default those of nobody, which were started before authorization was on. What waits because its principal is gone goes on. Takes what running the workflow takes, and principal:<subject>:impersonate unless you name yourself. With --all, what you may not run is passed over; what the new principal may not run stays as it is and is listed, and the exit code is 1.",
    )
    .argument("[id]", ID_HELP)
    .requiredOption("--run-as <subject>", "the service account that they run as from now on")
    .option("--all", "all that match, in place of an id")
    .option("--from <subject>", "with --all: those of this principal (default: those of nobody)")
    .option("-n, --namespace <ns>", "with --all: only of this namespace")
    .option(
      "--workflow <ref>",
      "with --all: only of this workflow, NAME or NAMESPACE/NAME",
      workflowFilter,
    )
    .option("--yes", "with --all: do not ask");
  serverOptions(command).action(async (id: string | undefined, options: TakeOverOptions) => {
    refuseMixture(id, options);
    if (options.all) {
      if (!options.yes) await confirm(io, options);
      return callServer(io, options, (server) => takeAll(io, server, options));
    }
    await callServer(io, options, async (server) => {
      const { client, print } = server;
      const params = { id: await executionId(server, id) };
      const body = { subject: options.runAs };
      print(await client.executions.setPrincipal({ params, body }), executionView);
    });
  });
  examples(command, [
    "execution take-over 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --run-as billing",
    "execution take-over --all --run-as billing",
    "execution take-over --all --from ada --workflow shop/checkout --run-as billing --yes",
  ]);
}

function refuseMixture(
  id: string | undefined,
  { all, from, namespace, workflow, runAs }: TakeOverOptions,
): void {
  if ((id === undefined) === !all) {
    throw new UsageError("say which executions: the id of one, or --all");
  }
  const filter = { "--from": from, "--namespace": namespace, "--workflow": workflow };
  const [stray] = Object.entries(filter).filter(([, value]) => !all && value !== undefined);
  if (stray) throw new UsageError(`${stray[0]} belongs to --all`);
  if (from === runAs) {
    throw new UsageError(`--from and --run-as are both ${runAs}: there is nothing to take over`);
  }
}

async function confirm(io: CliIo, options: Many): Promise<void> {
  const what = `This gives ${whichText(options)} the rights of ${options.runAs}.`;
  const kept = `What ${options.runAs} may not run stays as it is.`;
  const declined = "Nothing was taken over.";
  await confirmLoss(io, { what, kept, question: "Take them over?", declined });
}

function whichText({ from, namespace, workflow }: Many): string {
  const named = workflow && `${workflow.qualified ? `${workflow.ns}/` : ""}${workflow.wf}`;
  const of = [named && ` of workflow ${named}`, namespace && ` in namespace ${namespace}`];
  const whose = from === undefined ? "that is nobody's" : `that runs as ${from}`;
  return `every execution${of.join("")} ${whose} and has not ended`;
}

/** Asks again and again, since a server takes only so many at once. */
async function takeAll(io: CliIo, { client, print }: ServerCall, options: Many): Promise<void> {
  const { runAs, from, namespace } = options;
  const only = workflowQuery(options.workflow);
  const body = {
    subject: runAs,
    ...{ from, workflow: only.workflow, namespace: namespace ?? only.namespace },
  };
  let taken = 0;
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const some = await client.executions.takeOver({ body });
    taken += some.taken;
    if (some.remaining === 0) {
      const all = { ...some, taken };
      print(all, (_, screen) => takenView(all, options, screen));
      if (all.refused.length > 0) throw new Reported();
      return;
    }
    io.err.write(`${counted(taken, "execution")} taken over, ${some.remaining} left\n`);
    // Whoever starts more than are taken over keeps this going for ever.
    if (some.remaining >= left) {
      throw new Error(
        `no fewer are left than before: new ones are started as ${from ?? "nobody"}; stop that first, for example with: npx engine principals disable <subject>`,
      );
    }
    left = some.remaining;
  }
}

function takenView({ taken, refused }: TakenOver, options: Many, { paint }: Screen): string {
  const { runAs } = options;
  const done =
    taken === 0
      ? `Nothing to take over: you may run no execution ${whose(options)} that has not ended.`
      : `Took over ${counted(taken, "execution")}: from now on ${taken === 1 ? "it runs" : "they run"} as ${runAs}.`;
  if (refused.length === 0) return lines([done]);
  const rows = refused.flatMap(({ workflow, missing_permissions }) =>
    missing_permissions.map((permission, i) => [i === 0 ? workflow : "", permission]),
  );
  return (
    lines([taken === 0 ? "Nothing was taken over." : done, `${runAs} may not run these:`]) +
    table(["WORKFLOW", "LACKS"], rows, paint)
  );
}

function whose({ from }: Many): string {
  return from === undefined ? "of nobody" : `of ${from}`;
}

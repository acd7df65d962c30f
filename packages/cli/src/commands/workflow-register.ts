import { resolve } from "node:path";
import type { Registered, SourceIssue } from "@engine/contract";
import type { Command } from "commander";
import { Reported } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { examples } from "../examples.ts";
import { registeredTable } from "../render/workflow-view.ts";
import { callServer, type ServerOptions, serverOptions } from "../server-call.ts";
import { registerFile } from "../workflow-file/register-file.ts";
import { reportProblems } from "../workflow-file/report-problems.ts";

interface RegisterOptions extends ServerOptions {
  readonly dryRun?: boolean;
}

export function addRegister(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("register")
    .summary("Registers the workflows of files.")
    .description(
      "Bundles each file with what it imports, but for the packages that its workflows request, and registers its workflows. The server reads the source and never runs it. Equal content makes no new version.",
    )
    .argument("<files...>", "TypeScript files that export workflows")
    .option("--dry-run", "check only; save nothing");
  serverOptions(command).action((files: string[], options: RegisterOptions) =>
    register(io, files, options),
  );
  examples(command, ["workflow register hello.ts", "workflow register src/*.ts --dry-run"]);
}

async function register(io: CliIo, files: string[], options: RegisterOptions): Promise<void> {
  const items: Registered["items"] = [];
  const warnings: SourceIssue[] = [];
  let refused = 0;
  await callServer(io, options, async (server) => {
    for (const file of files) {
      const outcome = await registerFile(resolve(io.cwd, file), server.client, options.dryRun);
      reportProblems(io, outcome);
      if (!outcome.registered) refused++;
      items.push(...(outcome.registered?.items ?? []));
      warnings.push(...(outcome.registered?.warnings ?? []));
    }
    if (items.length || options.format === "json") {
      server.print({ items, warnings }, () =>
        registeredTable(items, server.paint, options.dryRun === true),
      );
    }
  });
  if (refused) {
    const what = files.length === 1 ? "the file" : `${refused} of ${files.length} files`;
    io.err.write(
      `error: ${what} cannot be registered; nothing of ${refused === 1 ? "it" : "them"} was saved\n`,
    );
    throw new Reported();
  }
}

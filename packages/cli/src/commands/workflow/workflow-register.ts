import { relative } from "node:path";
import type { EngineError, SourceIssue } from "@engine/contract";
import type { Command } from "commander";
import { examples } from "../../examples.ts";
import { Reported, UsageError } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { type FileRegistered, registeredFiles } from "../../render/registered-view.ts";
import { callServer, type ServerOptions, serverOptions } from "../../server-call.ts";
import { workflowFinder } from "../../workflow-file/find-workflow-files.ts";
import { inTurn, isTargetMissing } from "../../workflow-file/in-turn.ts";
import { type RegisterOutcome, registerFile } from "../../workflow-file/register-file.ts";
import { reportProblems } from "../../workflow-file/report-problems.ts";

interface RegisterOptions extends ServerOptions {
  readonly dryRun?: boolean;
}

type Tried =
  | { readonly file: string; readonly outcome: RegisterOutcome; readonly early?: undefined }
  /** Why it may come through behind others. */
  | { readonly file: string; readonly early: EngineError };

export function addRegister(workflow: Command, io: CliIo): void {
  const command = workflow
    .command("register")
    .summary("Registers the workflows of files.")
    .description(
      "Registers the workflows of files, and of all workflow files below the folders given. Bundles each file with what it imports, but for the packages that its workflows request. The server reads the source and never runs it. Equal content makes no new version.",
    )
    .argument("<paths...>", "TypeScript files that export workflows, or folders to search")
    .option("--dry-run", "check only; save nothing");
  serverOptions(command).action(async (paths: string[], options: RegisterOptions) => {
    const { files } = workflowFinder(paths, io.cwd)();
    if (files.length === 0) {
      throw new UsageError(
        `${paths.join(", ")} has no workflow file: TypeScript that imports @engine/sdk and defines a workflow, outside of tests and node_modules; name a file or another folder`,
      );
    }
    const registered: FileRegistered[] = [];
    const warnings: SourceIssue[] = [];
    await callServer(io, options, async (server) => {
      const register = async (file: string): Promise<Tried> => {
        try {
          const outcome = await registerFile(file, server.client, options.dryRun);
          reportProblems(io, outcome);
          return { file, outcome };
        } catch (error) {
          if (isTargetMissing(error)) return { file, early: error };
          throw error;
        }
      };
      for (const one of await inTurn(files, register, ({ early }) => early !== undefined)) {
        if (one.early) throw one.early;
        const { file, outcome } = one;
        registered.push({ file: relative(io.cwd, file), items: outcome.registered?.items });
        warnings.push(...(outcome.registered?.warnings ?? []));
      }
      const items = registered.flatMap((each) => each.items ?? []);
      if (files.length > 1 || items.length || options.format === "json") {
        server.print({ items, warnings }, (_, { paint }) =>
          registeredFiles(registered, paint, options.dryRun === true),
        );
      }
    });
    const refused = registered.filter(({ items }) => !items).length;
    if (refused) {
      const what = files.length === 1 ? "the file" : `${refused} of ${files.length} files`;
      io.err.write(
        `error: ${what} cannot be registered; nothing of ${refused === 1 ? "it" : "them"} was saved\n`,
      );
      throw new Reported();
    }
  });
  examples(command, ["workflow register hello.ts", "workflow register src --dry-run"]);
}

import tab from "@bomb.sh/tab/commander";
import { Command } from "commander";
import { addAuth } from "./commands/auth/auth.ts";
import { addConfig } from "./commands/config/config.ts";
import { addDb } from "./commands/db.ts";
import { addDev } from "./commands/dev.ts";
import { addExec } from "./commands/exec.ts";
import { addExecution } from "./commands/execution/execution.ts";
import { addHealth } from "./commands/health.ts";
import { addHook } from "./commands/hook/hook.ts";
import { addLimit } from "./commands/limit/limit.ts";
import { addPrincipals } from "./commands/principals/principals.ts";
import { addRoles } from "./commands/roles/roles.ts";
import { addSchedule } from "./commands/schedule/schedule.ts";
import { addSecrets } from "./commands/secrets/secrets.ts";
import { addServer } from "./commands/server/server.ts";
import { addService } from "./commands/service/service.ts";
import { addStartServer } from "./commands/start-server.ts";
import { addStartWorker } from "./commands/start-worker.ts";
import { addWhy } from "./commands/why.ts";
import { addWorker } from "./commands/worker/worker.ts";
import { addWorkflow } from "./commands/workflow/workflow.ts";
import { examples } from "./examples.ts";
import { reportError } from "./io/cli-error.ts";
import type { CliIo } from "./io/cli-io.ts";
import { productVersion } from "./product-version.ts";

/** The `engine` command with everything below it. The docs are printed from it. */
export function createProgram(io: CliIo): Command {
  const program = new Command("engine")
    .description("Durable workflows in plain TypeScript.")
    .version(productVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "Shows the help of a command.")
    // So that `--version` after a subcommand is that subcommand's own option.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      writeErr: (text) => io.err.write(text),
      getOutHelpWidth: () => io.out.columns ?? 100,
      getErrHelpWidth: () => io.err.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addDev(program, io);
  addExec(program, io);
  addWorkflow(program, io);
  addExecution(program, io);
  addWhy(program, io);
  addSchedule(program, io);
  addHook(program, io);
  addService(program, io);
  addWorker(program, io);
  addLimit(program, io);
  const start = program.command("start").description("Starts a server or a worker.");
  addStartServer(start, io);
  addStartWorker(start, io);
  addServer(program, io);
  addAuth(program, io);
  addRoles(program, io);
  addPrincipals(program, io);
  addSecrets(program, io);
  addConfig(program, io);
  addDb(program, io);
  addHealth(program, io);
  tab(program, { completionCommandName: "completion" });
  const completion = program.commands.find((command) => command.name() === "completion");
  if (completion) {
    completion.description("Prints the completion script of a shell.");
    examples(completion, [
      `completion bash >> ~/.bashrc`,
      `completion zsh >> ~/.zshrc`,
      `completion fish > ~/.config/fish/completions/engine.fish`,
    ]);
  }
  explainErrors(program, "npx engine", io);
  return examples(program, [
    "dev                                    # server, worker and the workflows of this folder",
    `exec hello.ts hello_world '"World"'    # run one without a server`,
    `workflow run hello_world '"World"' --mode sync`,
  ]);
}

/** A command line that is wrong is told what was expected, and where to read more of it. */
function explainErrors(command: Command, typed: string, io: CliIo): void {
  command.showHelpAfterError(`see: ${typed} --help`);
  command.configureOutput({ outputError: (text) => reportError(io, usageText(command, text)) });
  for (const below of command.commands) explainErrors(below, `${typed} ${below.name()}`, io);
}

function usageText(command: Command, text: string): string {
  const said = text
    .trimEnd()
    .replace(/^error: /, "")
    .replace(
      /^command-argument value '(.*)' is invalid for argument '([\w-]+)'\./s,
      "argument '$2' is invalid: '$1'.",
    );
  const shown = withoutSecrets(said);
  const [, missing] = /^missing required argument '([\w-]+)'$/.exec(shown) ?? [];
  const argument = command.registeredArguments.find((one) => one.name() === missing);
  return argument?.description ? `${shown}: ${argument.description}` : shown;
}

/** What was typed where it does not belong may be a secret, and what is printed is kept in logs. */
function withoutSecrets(text: string): string {
  return text
    .replace(/^(unknown option '--[\w-]+)=.*'/s, "$1'")
    .replaceAll(/\b(engine_[a-z]{2}_)[\w.-]+/g, "$1…");
}

import { type CliIo, createProgram } from "@engine/cli";
import { fenced } from "../markdown.ts";

type Command = ReturnType<typeof createProgram>;

/** `docs/cli.md`: the help of every command. */
export function cliPage(): string {
  const help: string[] = [];
  const unused = () => {
    throw new Error("printing help asks nothing of the world");
  };
  const stream = { write: (text: string) => void help.push(text), isTTY: false, columns: 100 };
  const io: CliIo = {
    env: {},
    cwd: "/",
    out: stream,
    err: stream,
    readStdin: unused,
    confirm: unused,
    askHidden: unused,
    now: unused,
    stopSignals: unused,
  };
  const sections: string[] = [];

  function print(command: Command, name: string): void {
    command.outputHelp();
    sections.push(`## ${name}\n\n${fenced("text", help.splice(0).join(""))}`);
    for (const inner of command.createHelp().visibleCommands(command)) {
      if (inner.name() !== "help") print(inner as Command, `${name} ${inner.name()}`);
    }
  }
  print(createProgram(io), "engine");
  return `# Command line

In a project the command is \`npx engine\`; it brings its own Node where the system's is older. Errors go to standard error as \`error: <message>\`; the exit code is 1, or 2 for a wrong command line.

${sections.join("\n")}`;
}

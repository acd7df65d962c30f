import type { Command } from "commander";

/** Ends a command's help with lines that can be typed as they stand. */
export function examples(command: Command, lines: readonly string[]): Command {
  return command.addHelpText(
    "after",
    `\nExamples:\n${lines.map((line) => `  npx engine ${line}`).join("\n")}`,
  );
}

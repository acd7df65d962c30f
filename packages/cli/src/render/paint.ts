import type { CliIo, CliStream } from "../io/cli-io.ts";
import { ownStyle } from "./harmless.ts";

/** What a colour may mean (look.md): a state, or that something is secondary. */
export type Role = "running" | "needs_you" | "failed" | "muted" | "strong";

const FORMATS = {
  running: "green",
  needs_you: "yellow",
  failed: "red",
  muted: "dim",
  strong: "bold",
} as const satisfies Record<Role, Parameters<typeof ownStyle>[0]>;

export type Paint = (role: Role, text: string) => string;

/** What a view is made for. */
export interface Screen {
  readonly paint: Paint;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
}

export function screenOf(io: CliIo): Screen {
  return { paint: painter(io.out, io.env), now: io.now(), columns: io.out.columns };
}

/** Colours for a stream: none without a terminal or with NO_COLOR. */
export function painter(stream: CliStream, env: CliIo["env"]): Paint {
  const coloured = stream.isTTY && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  if (!coloured) return (_role, text) => text;
  return (role, text) => ownStyle(FORMATS[role], text);
}

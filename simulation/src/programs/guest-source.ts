import type { Json } from "@engine/contract";
import { type ProgramInput, ROOT_PATH } from "./program.ts";
import { authorText } from "./program-source.ts";

/** Its name is the same in each: where a service has both, they collide. */
export const GUEST = "guest";
export const GUEST_NAMESPACES = ["east", "west"] as const;
/** Texts of each, which say the same. */
export const GUEST_TEXTS = 3;

/** As the judges of programs understand it. */
export const GUEST_INPUT: Json = {
  program: { kind: "sequence", parts: [] },
  path: ROOT_PATH,
} satisfies ProgramInput as unknown as Json;

export interface GuestText {
  readonly namespace: string;
  readonly number: number;
}

/** The text to register: of each number another content. */
export async function guestSource({ namespace, number }: GuestText): Promise<string> {
  const text = await authorText(["surroundings", "guest"]);
  return replaced(
    replaced(text, 'namespace: "east"', `namespace: "${namespace}"`),
    "const VERSION = 1;",
    `const VERSION = ${number};`,
  );
}

function replaced(text: string, what: string, by: string): string {
  if (!text.includes(what)) throw new Error(`the guest has lost its ${what}`);
  return text.replace(what, by);
}

import { pathToFileURL } from "node:url";

/** Nothing can begin here until the machine lets it: no room, no right to write, no handle left. */
export class MachineTrouble extends Error {
  override readonly name = "MachineTrouble";
  /** Does what did not work; rejects for as long as it does not. */
  readonly tryAgain: () => Promise<void>;

  constructor(cause: unknown, tryAgain: () => Promise<void>) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.tryAgain = tryAgain;
  }
}

/** Codes that are trouble of the machine, whatever was asked of it. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  ...["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM"],
]);
/** Codes that are trouble of the machine only where a file of the worker itself has them. */
const OF_A_FILE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "ENOENT"]);

/** Whether an error, or what caused it, is the machine's. */
export function isOfTheMachine(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = "", cause } = error as NodeJS.ErrnoException;
  return OF_THE_MACHINE.has(code) || isOfTheMachine(cause);
}

/** Whether a bundle did not load because its file could not be read; its code may be sound. */
export function isUnreadable(error: unknown, path: string): boolean {
  if (isOfTheMachine(error)) return true;
  const { code = "", path: of, url } = (error ?? {}) as NodeJS.ErrnoException & { url?: string };
  if (code === "ERR_MODULE_NOT_FOUND") return url === pathToFileURL(path).href;
  return OF_A_FILE.has(code) && of === path;
}

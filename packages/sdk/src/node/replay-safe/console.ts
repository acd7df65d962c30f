import { currentBody } from "./body.ts";
import { replace } from "./replace.ts";

/** Functions of `console` that print nothing by themselves, some of them made by inspectors. */
const SILENT: ReadonlySet<string> = new Set(["Console", "context", "createTask"]);

/** What a body prints appears on the first pass only (EXE-31). */
export function installConsole(): void {
  const { console } = globalThis;
  for (const key of Object.keys(console)) {
    if (SILENT.has(key)) continue;
    replace([console], key, (native) => {
      return function print(this: unknown, ...args: unknown[]) {
        if (currentBody()?.world.isReplaying !== true) return native.apply(this, args);
      };
    });
  }
}

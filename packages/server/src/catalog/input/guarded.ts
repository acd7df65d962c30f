import vm from "node:vm";

const sandbox: { check: () => unknown } = { check: () => true };
const script = new vm.Script("check()");
let context: vm.Context | undefined;

/**
 * Runs a check that ends after so many milliseconds, whatever it does: nothing else can stop a regular
 * expression. A guarded check may contain another.
 */
export function guarded<Value>(check: () => Value, limitMs: number): Value | "timeout" {
  context ??= vm.createContext(sandbox);
  sandbox.check = check;
  try {
    return script.runInContext(context, { timeout: limitMs }) as Value;
  } catch (error) {
    const isTimeout = (error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    if (isTimeout) return "timeout";
    throw error;
  }
}

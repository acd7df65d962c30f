import type { Budget, ExecutionPort, Host, TaskServices } from "./port.ts";

/**
 * The port as the core calls it: work of the host for the core must not look like work of the user's
 * code that happened to cause it.
 */
export function outside(port: ExecutionPort, host: Host): ExecutionPort {
  const out = <T>(run: () => T): T => host.runInScope(undefined, run);
  const { services, budget } = port;
  const token = services.executionToken?.bind(services);
  const guarded: TaskServices = {
    lookUp: (key) => out(() => services.lookUp(key)),
    keep: (key, text, ttl_ms) => out(() => services.keep(key, text, ttl_ms)),
    saveValue: (text, hidden) => out(() => services.saveValue(text, hidden)),
    loadValue: (reference) => out(() => services.loadValue(reference)),
    secrets: (task, names) => out(() => services.secrets(task, names)),
    configs: (task, names) => out(() => services.configs(task, names)),
    ...(token && { executionToken: () => out(token) }),
  };
  const guardedBudget: Budget | undefined = budget && {
    reserve: (call, requests) => out(() => budget.reserve(call, requests)),
    retake: (call, requests) => out(() => budget.retake(call, requests)),
    release: (call) => out(() => budget.release(call)),
  };
  return {
    services: guarded,
    budget: guardedBudget,
    ...(port.localServices && { localServices: port.localServices.bind(port) }),
    // Always sent from a turn of the outbox, in which no code of the user's runs.
    checkpoint: (delta) => port.checkpoint(delta),
    progress: (item) => out(() => port.progress(item)),
    stalled: () => out(() => port.stalled?.()),
  };
}

import { syncBuiltinESMExports } from "node:module";
import { currentScope } from "../../replay/calls/scope.ts";
import { shareScopes } from "./body.ts";
import { installConsole } from "./console.ts";
import { installDate } from "./date.ts";
import { installIntl } from "./intl.ts";
import { installRandomness } from "./randomness.ts";
import { installTemporal } from "./temporal.ts";
import { installTimerPromises } from "./timer-promises.ts";
import { installTimers } from "./timers.ts";
import { installWarnings } from "./warnings.ts";

/**
 * Makes the globals that would answer differently on a replay safe in workflow bodies (EXE-31); in
 * tasks and outside executions they stay what they are. Once per realm, however many copies of this
 * package it has; call it before user code loads, which may take functions out of the globals.
 */
export function installReplaySafeGlobals(): void {
  if (!shareScopes(currentScope)) return;
  installDate();
  installIntl();
  installTemporal();
  installRandomness();
  installTimerPromises();
  installTimers();
  installConsole();
  installWarnings();
  syncBuiltinESMExports();
}

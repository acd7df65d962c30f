/**
 * What `@engine/sdk` is on Node: the authoring API, and globals that are replay-safe before the
 * module that imports it runs. So what that module takes out of them, such as `const { random } =
 * Math`, is replay-safe too, in whatever order modules load (decision 0021).
 */
import { installReplaySafeGlobals } from "./replay-safe/install.ts";

export * from "../index.ts";

installReplaySafeGlobals();

/** The process that serves one service; every line here is public. */
export { Gateway, type GatewayHealth, type GatewayStarted } from "./gateway.ts";
export {
  GATEWAY_DEFAULTS,
  type GatewayLog,
  type GatewayOptions,
  type GatewaySettings,
  type ToolOptions,
} from "./gateway-options.ts";
export { type SettingProblem, settingProblems } from "./setting-problems.ts";
export type { GatewayTiming } from "./timing.ts";

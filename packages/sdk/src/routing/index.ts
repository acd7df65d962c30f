// The builders of routing and flow control. Adding a line makes something public.

export {
  input,
  label,
  labelFor,
  meta,
  metaFor,
  type NoTerms,
  optional,
  require,
  routingInput,
  service,
  when,
} from "./affinity.ts";
export type { InputPath } from "./input-path.ts";
export { concurrency, limit, rate } from "./limits.ts";
export {
  least,
  load,
  metric,
  most,
  prefer,
  resource,
  score,
  sticky,
  utilization,
} from "./policy.ts";
export type {
  Affinity,
  AffinityTerm,
  Comparison,
  ConcurrencyOptions,
  InputCondition,
  KeyReads,
  Limit,
  LimitOptions,
  MatchTerm,
  OfRoutingInput,
  OptionalTerm,
  PlainScoreTerm,
  ReadsOf,
  Ref,
  RoutingPolicy,
  ScoreTerm,
  Selector,
  WeightOptions,
  WhenRequired,
  WhenScored,
  WorkerCondition,
  WorkerValue,
} from "./terms.ts";

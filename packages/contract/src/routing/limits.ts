/** How many may run, or begin: declarations with their keys read (FLW-1 to FLW-4), and what denies a claim. */
import { EngineError } from "../errors/errors.ts";
import { engineFailure, type Failure } from "../errors/failure.ts";
import { formatInstant } from "../values/time.ts";
import { LimitDeclaration, type ValueRef } from "./expression.ts";
import { INVALID, type KeyInputs, keyValue } from "./key-value.ts";
import type { ResolvedLimit } from "./needs.ts";
import { printLimit } from "./print-options.ts";

/** Whose limits are resolved, and what they read. */
export interface LimitedExecution extends KeyInputs {
  /** `namespace/name`: all versions of a workflow share their places. */
  readonly workflow: string;
}

export type ResolvedLimits =
  | { readonly failure?: never; readonly limits: readonly ResolvedLimit[] }
  | { readonly failure: Failure; readonly limits?: never };

/** A limit of a kind that a later server registered: nobody can define this name, so it is waited for. */
const UNKNOWN: LimitDeclaration = { kind: "limit", name: "(unknown)" };

/** The limits of a version; its declarations may come from a server that knew more kinds than this one. */
export function limitsOf(declared: unknown): readonly LimitDeclaration[] {
  if (!Array.isArray(declared)) return [];
  return declared.map((one) => LimitDeclaration.safeParse(one).data ?? UNKNOWN);
}

export function resolveLimits(declared: unknown, of: LimitedExecution): ResolvedLimits {
  const limits = new Map<string, ResolvedLimit>();
  for (const limit of limitsOf(declared)) {
    const value = keyValue(limit.key, of);
    if (value === INVALID) return { failure: invalidKey(limit, limit.key as ValueRef) };
    const resolved = resolvedLimit(limit, of.workflow, value);
    limits.set(JSON.stringify(resolved), resolved);
  }
  return { limits: [...limits.values()] };
}

/** The paths of the input that keys read. */
export function pathsOfLimits(declared: unknown): readonly string[] {
  const paths = limitsOf(declared).flatMap(({ key }) => (key?.kind === "input" ? [key.path] : []));
  return [...new Set(paths)];
}

function resolvedLimit(limit: LimitDeclaration, workflow: string, value: unknown): ResolvedLimit {
  const { key, ...rest } = limit;
  const of = limit.kind === "limit" ? limit.name : workflow;
  const read = key ? [key.kind, key.path, ...(value === undefined ? [] : [value])] : [];
  return { bucket: JSON.stringify([limit.kind, of, ...read]), ...rest };
}

function invalidKey(limit: LimitDeclaration, { kind, path }: ValueRef): Failure {
  if (kind === "routing_input") {
    return engineFailure("AffinityResolutionError", "routing constraint unsatisfied");
  }
  const term = printLimit(limit);
  const message = `limit ${term} needs input ${JSON.stringify(path)} to be a text, a number or a boolean, and it is a list or an object`;
  const details = { term, input: path, reason: "invalid" };
  return engineFailure("AffinityResolutionError", message, { details });
}

/** What people are told of a bucket. */
export interface BucketView {
  readonly kind: ResolvedLimit["kind"];
  /** The workflow, or the name of the operators' limit. */
  readonly of: string;
  /** The value of the key; null: there is no key, or no value. */
  readonly key: string | null;
}

export function bucketView(bucket: string): BucketView {
  const [kind, of, from, , value] = JSON.parse(bucket);
  const isLong = typeof value === "object" && value !== null;
  const shown = isLong ? "(long value)" : (value ?? null);
  return { kind, of, key: from === "routing_input" ? "(routing input)" : shown };
}

/** Why a claim was not written: which limit has no place for it. */
export type LimitDenial = { readonly limit: ResolvedLimit } & (
  | {
      readonly reason: "concurrency_limit";
      /** Places, and how many are taken. */
      readonly count: number;
      readonly held: number;
      /** The first ten executions that have one. */
      readonly holders: readonly string[];
    }
  | {
      readonly reason: "rate_limit";
      readonly count: number;
      readonly period_ms: number;
      /** When the next may begin, milliseconds since 1970. */
      readonly free_at: number;
    }
  | { readonly reason: "limit_undefined"; readonly name: string }
);

/** The denial of a place, to be refused for at once or to be waited out. */
export type ConcurrencyDenial = Extract<LimitDenial, { readonly reason: "concurrency_limit" }>;

/** What a start is refused with whose workflow declares `overflow: "reject"`. */
export function concurrencyLimited(denied: ConcurrencyDenial): EngineError {
  const details = limitDetails(denied);
  return new EngineError("concurrency_limited", fullMessage(denied), { details });
}

/** The same for a `call` of such a workflow. */
export function concurrencyLimitedCall(denied: ConcurrencyDenial): Failure {
  const details = limitDetails(denied);
  return engineFailure("ConcurrencyLimitedError", fullMessage(denied), { details });
}

function fullMessage({ limit, count, held }: ConcurrencyDenial): string {
  const { of, key } = bucketView(limit.bucket);
  const whose = key === null ? of : `${of}, key ${key},`;
  return `${whose} has ${held} of ${count} places taken and refuses what would wait; start it again when one has ended`;
}

/** What readers are told of a limit that is full: no value of a routing input. */
export function limitDetails(
  denied: LimitDenial,
): Readonly<Record<string, string | number | null>> {
  const { kind, of, key } = bucketView(denied.limit.bucket);
  const limit = kind === "limit" ? of : kind;
  if (denied.reason === "limit_undefined") return { limit, key, name: denied.name };
  if (denied.reason === "concurrency_limit") {
    return { limit, key, count: denied.count, held: denied.held };
  }
  const { count, period_ms } = denied;
  return {
    limit,
    key,
    count,
    period_seconds: period_ms / 1000,
    free_at: formatInstant(denied.free_at),
  };
}

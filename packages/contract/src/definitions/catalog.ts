import * as z from "zod";
import { DeclaredHook } from "../hooks/declared-hook.ts";
import { FairnessDeclaration, LimitDeclaration } from "../routing/expression.ts";
import { DeclaredSchedule } from "../schedules/schedule-declaration.ts";
import { AnyJson } from "../values/any-json.ts";
import { NAME_PATTERN, NAME_RULE } from "../values/name.ts";
import { ResourceRequests, TaskRequests } from "./resource-requests.ts";
import { Runner, RunnerOptions } from "./runner.ts";

/** A name in a path, a query or a body (EXE-8). */
export const Name = z.string().regex(NAME_PATTERN, `must be a name: ${NAME_RULE}`);

/** What a task may do: shown to a reviewer, and orders the calls of tools. */
export const Risk = z.enum(["read", "write", "exec", "external"]);
export type Risk = z.infer<typeof Risk>;

/** `transient` executions record their WORKFLOW_… events only (EXE-58). */
export const Durability = z.enum(["durable", "transient"]);
export type Durability = z.infer<typeof Durability>;

/**
 * What registration reads of a task without running it (EXE-61). The copies that `with(…)` makes
 * count as the task: the secrets and configs of all of them, the highest risk, the largest requests,
 * sensitive when one is, exempt when all are. Defaults are for records of engines that did not read the option yet.
 */
export const TaskRecord = z.object({
  name: z.string(),
  description: z.string().nullable(),
  auth_exempt: z.boolean().default(false),
  risk: Risk.default("write"),
  sensitive: z.boolean().default(false),
  secrets: z.array(z.string()).default([]),
  configs: z.array(z.string()).default([]),
  /** In cores, bytes and devices. */
  requests: TaskRequests.nullable().default(null),
});
export type TaskRecord = z.infer<typeof TaskRecord>;

/** What registration reads of a workflow. Grows with the options that later take effect. */
export const ExtractedWorkflow = z.object({
  namespace: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** JSON Schema 2020-12 of the inputs; null (absent: not read yet) takes any value (EXE-63). */
  input_schema: z.record(z.string(), AnyJson).nullable().optional(),
  /** The same of the outputs. */
  output_schema: z.record(z.string(), AnyJson).nullable().optional(),
  /** Tasks reachable from the body, in source order. */
  tasks: z.array(TaskRecord),
  /** Targets of `call(…)` reachable from the body, as `namespace/name`; computed ones are missing. */
  nested_workflows: z.array(z.string()).default([]),
  durability: Durability.default("durable"),
  /** From the first start to the end, parked time included; null: none. */
  timeout_seconds: z.number().nullable().default(null),
  /** Null: each worker's default. */
  runner: Runner.nullable().default(null),
  runner_options: RunnerOptions.nullable().default(null),
  /** In cores, bytes and devices. */
  requests: ResourceRequests.nullable().default(null),
  /** What its worker must be: labels, or terms (AFF-7); null: any. A later release may know more terms. */
  affinity: AnyJson.default(null),
  /** How workers that may have it are ranked (RTE-7); null: by their load. */
  routing: AnyJson.default(null),
  /** How many of its executions may be under way, or begin (FLW-1 to FLW-3). */
  limits: z.array(LimitDeclaration).default([]),
  /**
   * From -10 to 10; a lower one starts only when no higher one can (FLW-5). Null: nothing is stated; then
   * it is 0, of a child that of its parent.
   */
  priority: z.int().nullable().default(null),
  /** Whose turn it is among executions of one priority (FLW-6); null: first come, first served. */
  fairness: FairnessDeclaration.nullable().default(null),
  /** What it declares to be started by. */
  schedule: DeclaredSchedule.nullable().default(null),
  /** What it declares to be run when something happens to its executions (HOOK-47). */
  hooks: z.array(DeclaredHook).default([]),
  /** Of the workflow itself; each of its tasks may use them too. */
  secrets: z.array(z.string()).default([]),
  configs: z.array(z.string()).default([]),
  metadata: z.record(z.string(), AnyJson),
});
export type ExtractedWorkflow = z.infer<typeof ExtractedWorkflow>;

/** One version of a workflow in the catalog (EXE-68). */
export const WorkflowRecord = ExtractedWorkflow.extend({
  /** From 1, dense per workflow, never reused. */
  version: z.int().positive(),
  /** SHA-256 of the bundle and of what was extracted: equal content is the same version. */
  content_hash: z.string(),
  /** SHA-256 of the entry file. */
  source_hash: z.string(),
  created_at: z.string(),
  created_by: z.string().nullable(),
});
export type WorkflowRecord = z.infer<typeof WorkflowRecord>;

/** A file as it was sent; `path` is relative to the folder that all files have in common. */
export const SourceFile = z.object({ path: z.string().min(1), source: z.string() });
export type SourceFile = z.infer<typeof SourceFile>;

/** `POST /workflows`: the files with the bundle the CLI made, or one self-contained source (EXE-59). */
export const Registration = z.union([
  z.strictObject({
    entry: z.string().min(1),
    files: z.array(z.strictObject(SourceFile.shape)).min(1),
    bundle: z.string().min(1),
  }),
  z.strictObject({ source: z.string() }),
]);
export type Registration = z.infer<typeof Registration>;

/** One reason why a file is refused, or a warning: always with its place in the source (EXE-64). */
export const SourceIssue = z.object({
  /** Qualified name of the workflow it concerns, when it concerns one. */
  workflow: z.string().nullable(),
  /** The place in the record, such as `workflows[0].tasks[1].retry.delay`. */
  path: z.string(),
  rule: z.enum([
    "syntax_error",
    "too_intricate",
    "no_workflow",
    "not_exported",
    "missing_name",
    "duplicate_workflow",
    "duplicate_task",
    "not_static",
    "unknown_option",
    "invalid_option",
    "invalid_selector",
    "unresolved_import",
    "dynamic_call",
    "schema_not_extracted",
    "nondeterministic_call",
    "shared_state",
    "shadowed_name",
    "secret_unknown",
    "limit_undefined",
    "unknown_input_path",
  ]),
  message: z.string(),
  file: z.string(),
  line: z.int().positive(),
  /** From 1. */
  column: z.int().positive(),
  /** Source text of the expression, at most 200 characters. */
  expression: z.string(),
});
export type SourceIssue = z.infer<typeof SourceIssue>;

/**
 * What a registration answers: each workflow of the file, `created` when it made a new version.
 */
export const Registered = z.object({
  items: z.array(WorkflowRecord.extend({ created: z.boolean() })),
  warnings: z.array(SourceIssue),
});
export type Registered = z.infer<typeof Registered>;

/** A namespace that holds workflows; it exists as long as it does. */
export const Namespace = z.object({ namespace: z.string(), workflow_count: z.int() });

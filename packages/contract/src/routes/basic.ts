import * as z from "zod";
import { Name } from "../definitions/catalog.ts";
import { BasicExecution, InspectedExecution } from "../executions/execution.ts";
import { AnyJson } from "../values/any-json.ts";
import { DEFAULT_NAMESPACE } from "../values/name.ts";
import { QueryFlag } from "../wire/list.ts";
import { run } from "../wire/permission.ts";
import type { Route } from "../wire/route.ts";
import { aimed, PauseName, RunHeaders, RunVersion, Waiting } from "./execution-queries.ts";
import { readExecution } from "./executions.ts";

const BasicQuery = {
  inspect: QueryFlag.optional().describe("answers the whole record, with its log"),
  namespace: Name.default(DEFAULT_NAMESPACE).describe("of the workflow"),
  timeout: Waiting.timeout.describe("seconds until it answers as it is then"),
};

const Basic = z.union([InspectedExecution, BasicExecution]);
const basicAnswers = { 200: Basic, 202: Basic, 409: Basic, 500: Basic } as const;

/** The basic API (EXE-89). Fixed routes win over these. */
export const basicRoutes = {
  run: {
    method: "POST",
    path: "/{workflow_name}",
    summary: "Runs a workflow and waits until it has ended or paused; the body is its input.",
    permission: aimed(run("{namespace}/{workflow_name}")),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, version: RunVersion }),
    headers: RunHeaders,
    body: AnyJson,
    bodyLimit: "value",
    answers: basicAnswers,
  },
  resume: {
    method: "POST",
    path: "/{workflow_name}/{execution_id}",
    summary:
      "Answers an open pause and waits until the execution has ended or paused again; the body is what its `pause` call returns.",
    permission: run("{namespace}/{workflow_name}"),
    effect: "write",
    query: z.strictObject({ ...BasicQuery, pause: PauseName }),
    body: AnyJson,
    bodyLimit: "value",
    answers: basicAnswers,
  },
  inspect: {
    method: "GET",
    path: "/inspect/{execution_id}",
    summary: "Reads an execution with its whole log.",
    permission: readExecution,
    effect: "read",
    answers: { 200: InspectedExecution },
  },
} as const satisfies Record<string, Route>;

import { EngineError, notFound } from "@engine/contract";
import { expect, test } from "vitest";
import * as z from "zod";
import { createApp } from "./create-app.ts";
import type { RouteTable } from "./handlers.ts";
import { RateLimits } from "./rate-limits.ts";
import { answer } from "./reply.ts";

const row = {
  method: "POST",
  summary: "-",
  effect: "write",
  query: z.strictObject({}),
  body: z.strictObject({ size: z.number() }),
  bodyLimit: 1000,
  answers: { 200: z.object({ name: z.string() }) },
} as const;

const permission = {
  kind: "all",
  of: [
    { kind: "grant", grant: "thing:{name}:write" },
    { kind: "grant", grant: "owner:{owner}:use" },
  ],
} as const;

const routes = {
  things: {
    write: {
      ...row,
      path: "/things/{name}",
      permission,
      limit: { rate: "register", per: "address" },
    },
    test: {
      ...row,
      path: "/tests/{name}",
      permission,
      limit: { rate: "test_token", per: "principal" },
    },
  },
} as const satisfies RouteTable;

const OWNERS: Readonly<Record<string, string>> = { mine: "me", theirs: "them", done: "me" };

/** What was done, in order, since the request came. */
let did: string[] = [];

function app() {
  const write = async ({ params }: { params: { name: string } }, { permit }: Permits) => {
    did.push("handler");
    const owner = OWNERS[params.name];
    if (owner === undefined) throw notFound("thing", params.name);
    permit.demand({ owner });
    if (params.name === "done") throw new EngineError("conflict", "it is done");
    return answer(200, { name: params.name });
  };
  return createApp({
    routes,
    handlers: { things: { write, test: write } },
    log: { error: (fields) => expect.unreachable(String(fields["err"])) },
    ids: () => "r",
    authorize: (_, { headers }) => {
      did.push("caller");
      const { authorization } = headers;
      if (authorization === undefined) {
        throw new EngineError("unauthenticated", "who?", { details: { reason: "missing" } });
      }
      const holds = (needed: string) =>
        authorization !== "Bearer weak" && needed !== "owner:them:use";
      return { principal: "ada", rights: { holds, seenBy: () => [] } };
    },
    limits: new RateLimits({
      rates: { register: "1/minute", test_token: "1/minute" },
      monotonic: () => 0,
    }),
  });
}

type Permits = { permit: { demand(subject: { owner: string }): void } };

interface Asked {
  method: "POST" | "DELETE";
  url: string;
  remoteAddress: string;
  headers: Record<string, string>;
  payload: string;
}

const good = (path: string): Asked => ({
  method: "POST",
  url: `/${path}/mine`,
  remoteAddress: "203.0.113.1",
  headers: { authorization: "Bearer strong", "content-type": "application/json" },
  payload: '{"size":1}',
});

/** A defect and its answer, in the order of the steps. */
type Step = readonly [
  name: string,
  answered: readonly [number, string],
  spoil: (to: Asked) => void,
];

const head: readonly Step[] = [
  [
    "1 the name of the host",
    [400, "host_not_allowed"],
    ({ headers }) => Object.assign(headers, { host: "evil.example" }),
  ],
  [
    "1 the origin",
    [403, "origin_denied"],
    ({ headers }) => Object.assign(headers, { origin: "https://evil.example" }),
  ],
  ["2 the path", [404, "not_found"], (to) => Object.assign(to, { url: "/no/such/thing" })],
  ["2 the method", [405, "method_not_allowed"], (to) => Object.assign(to, { method: "DELETE" })],
  [
    "3 the declared size",
    [413, "payload_too_large"],
    (to) => Object.assign(to, { payload: "{".repeat(1001) }),
  ],
];

const credential: Step = [
  "5 the credential",
  [401, "unauthenticated"],
  ({ headers }) => delete headers["authorization"],
];
const right: Step = [
  "6 what the path needs",
  [403, "permission_denied"],
  ({ headers }) => Object.assign(headers, { authorization: "Bearer weak" }),
];

const body: readonly Step[] = [
  [
    "7 the encoding",
    [415, "unsupported_media_type"],
    ({ headers }) => Object.assign(headers, { "content-encoding": "gzip" }),
  ],
  [
    "7 the media type",
    [415, "unsupported_media_type"],
    ({ headers }) => Object.assign(headers, { "content-type": "text/plain" }),
  ],
  ["7 the JSON", [400, "bad_request"], (to) => Object.assign(to, { payload: "{" })],
  ["7 the fields", [422, "invalid_input"], (to) => Object.assign(to, { payload: "{}" })],
  ["8 the record", [404, "not_found"], (to) => named(to, "nobodys")],
  ["8 what the record needs", [403, "permission_denied"], (to) => named(to, "theirs")],
  ["9 the state", [409, "conflict"], (to) => named(to, "done")],
];

function named(to: Asked, name: string): void {
  to.url = to.url.replace(/(things|tests)\/\w+/, `$1/${name}`);
}

const byAddress: readonly Step[] = [
  ...head,
  [
    "4 how often the address asked",
    [429, "rate_limited"],
    (to) => Object.assign(to, { remoteAddress: "203.0.113.9" }),
  ],
  credential,
  right,
  ...body,
];

for (const [path, steps] of Object.entries({
  things: byAddress,
  tests: [...head, credential, right, ...body],
})) {
  test(`AUTH-5 NET-2 of all that is wrong with a request the earliest step answers: POST /${path}`, async () => {
    for (const [at, [name, answered]] of steps.entries()) {
      const to = app();
      // One address has spent what it may ask for.
      const spent = { ...good("things"), remoteAddress: "203.0.113.9" };
      expect((await to.inject(spent)).statusCode).toBe(200);
      did = [];
      const asked = good(path);
      // The last defect first: an earlier one wins where both touch the same part of the request.
      for (const [, , spoil] of steps.slice(at).reverse()) spoil(asked);
      const response = await to.inject(asked);
      const { code } = response.json().error;
      expect([name, response.statusCode, code]).toEqual([name, ...answered]);
      const step = Number(name[0]);
      expect([name, did]).toEqual([
        name,
        [...(step > 4 ? ["caller"] : []), ...(step > 7 ? ["handler"] : [])],
      ]);
      expect(response.headers["x-request-id"]).toBe("r");
    }
    expect((await app().inject(good(path))).statusCode).toBe(200);
  });
}

test("AUTH-5 NET-2 the limit of a principal comes after its rights and before its body", async () => {
  const to = app();
  const weak = good("tests");
  weak.headers["authorization"] = "Bearer weak";
  expect((await to.inject(weak)).statusCode).toBe(403);
  expect((await to.inject(good("tests"))).statusCode).toBe(200);
  expect((await to.inject(weak)).statusCode).toBe(403);
  const broken = { ...good("tests"), payload: "{" };
  const response = await to.inject(broken);
  expect([response.statusCode, response.headers["retry-after"]]).toEqual([429, "60"]);
});

test("AUTH-6 a caller without the right learns nothing of what exists", async () => {
  const answers = [];
  for (const name of ["mine", "nobodys"]) {
    const asked = good("tests");
    named(asked, name);
    asked.headers["authorization"] = "Bearer weak";
    const { statusCode, body: text } = await app().inject(asked);
    answers.push([statusCode, text.replaceAll(name, "it")]);
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.[0]).toBe(403);
});

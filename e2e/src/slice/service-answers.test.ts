import { writeFile } from "node:fs/promises";
import type { ServiceRun } from "@engine/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { type ServiceProcess, startService } from "../harness/service-process.ts";
import { until } from "../harness/until.ts";
import { type Received, WireRequest } from "../harness/wire-request.ts";

let engine: Engine;
let alone: ServiceProcess;
/** The same endpoints, at the server and where a process serves nothing else. */
let places: readonly [server: Place, own: Place];

beforeAll(async () => {
  engine = await startEngine();
  await engine.register("counting", "held", "hello", "interview", "nap", "trouble", "unclaimed");
  const { code, stderr } = await engine.cli("service", "create", "tried", "--namespace", "default");
  if (code !== 0) throw new Error(stderr);
  alone = await startService(engine, "tried");
  places = [
    new Place("server", engine.url, `${engine.url}/services/tried`),
    new Place("alone", alone.url, alone.url),
  ];
});

afterAll(async () => {
  await alone?.kill();
  await engine?.[Symbol.asyncDispose]();
});

class Place {
  readonly name: string;
  readonly #base: string;
  readonly #endpoints: string;

  constructor(name: string, base: string, endpoints: string) {
    this.name = name;
    this.#base = base;
    this.#endpoints = endpoints;
  }

  open(path: string, body: unknown, headers?: Record<string, string>): WireRequest {
    return WireRequest.post(this.#endpoints + path, body, headers);
  }

  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Received> {
    return this.open(path, body, headers).received();
  }

  /** A path as answers have it. */
  follow(path: string, headers: Record<string, string> = {}): WireRequest {
    return new WireRequest(this.#base + path, { headers });
  }

  /** The id of an execution that waits for the first of its two answers. */
  async interviewed(): Promise<string> {
    const file = engine.home.file("interviews.txt");
    return idOf(await this.post("/interview", file));
  }
}

const UPSTREAM_HEADERS = [
  ...["content-type", "content-length", "location", "retry-after", "www-authenticate"],
  ...["idempotency-replayed", "x-accel-buffering", "x-engine-execution-id"],
] as const;

function idOf({ headers }: Received): string {
  const id = headers["x-engine-execution-id"];
  if (typeof id !== "string") throw new Error(`no execution in ${JSON.stringify(headers)}`);
  return id;
}

/** An answer without what no two executions have in common. */
function evened(received: Received) {
  const { status, headers, bytes, isWhole } = received;
  const id = headers["x-engine-execution-id"] ?? "none";
  const even = (text: string) =>
    text
      .replaceAll(String(id), "<id>")
      .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}/g, "<time>");
  const named = UPSTREAM_HEADERS.map((name) => [name, even(String(headers[name] ?? ""))]);
  const body = even(bytes.toString("latin1"));
  const isStream = headers["content-type"]?.startsWith("text/event-stream") ?? false;
  return {
    ...{ status, isWhole, headers: Object.fromEntries(named) },
    body: isStream ? framesOf(body) : body,
  };
}

/** Each as it is on the wire; comments come by the clock. */
function framesOf(text: string): string[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => `${block}\n`);
}

/** Names of a stream's frames, and what the last one says. */
function told({ text }: Received) {
  const frames = framesOf(text);
  const events = frames.map((frame) => /^event: (.*)$/m.exec(frame)?.[1] ?? frame);
  const last = /^data: (.*)$/m.exec(frames.at(-1) ?? "")?.[1] ?? "null";
  return { events, last: JSON.parse(last) as ServiceRun };
}

/** The one execution of a workflow that runs. */
async function running(workflow: string): Promise<string> {
  let id: string | undefined;
  await until(`one of ${workflow} runs`, async () => {
    const path = `/workflows/default/${workflow}/executions?state=running`;
    const { body } = await engine.http.get<{ items: { execution_id: string }[] }>(path);
    id = body.items[0]?.execution_id;
    return id !== undefined;
  });
  return id ?? "";
}

async function cancel(workflow: string, id: string): Promise<void> {
  const { status } = await engine.http.post(`/workflows/default/${workflow}/cancel/${id}`);
  if (status >= 300) throw new Error(`cancelling ${id} was answered ${status}`);
}

/** Asks, and cancels what was begun as soon as it sleeps. */
async function cancelled(place: Place, path: string): Promise<Received> {
  const asked = place.open(path, 600_000);
  const id = await running("nap");
  await engine.untilParked(id, "sleep");
  await cancel("nap", id);
  return asked.received();
}

/** The same at both places, one after the other: what it looks for is the only one there is. */
async function each<Found>(ask: (place: Place) => Promise<Found>): Promise<[Found, Found]> {
  const [server, own] = places;
  return [await ask(server), await ask(own)];
}

type Row = readonly [outcome: string, ask: (place: Place) => Promise<Received>, answer: object];

const NAME = "Ada ✓ Ünal";
const text = (...parts: unknown[]) => parts.map((part) => JSON.stringify(part)).join("");
const state = (name: string) => expect.stringContaining(`"state":"${name}"`);
const LOCATED = { location: expect.stringMatching(/^\/services\/tried\/\w+\/status\/<id>$/) };

const ANSWERS: readonly Row[] = [
  [
    "a run that was accepted",
    (place) => place.post("/hello_world/async", NAME),
    { status: 202, headers: LOCATED, body: state("CREATED") },
  ],
  [
    "an output, raw",
    (place) => place.post("/hello_world", NAME),
    { status: 200, body: Buffer.from(text(`Hello, ${NAME}!`)).toString("latin1") },
  ],
  [
    "an output in the detailed form",
    (place) => place.post("/hello_world/sync?detailed=true", "Ada"),
    { status: 200, body: expect.stringContaining('"output":"Hello, Ada!"') },
  ],
  [
    "a pause",
    (place) => place.post("/interview", engine.home.file("interviews.txt")),
    { status: 202, headers: LOCATED, body: state("PAUSED") },
  ],
  [
    "a failure",
    (place) => place.post("/failing", "no ✗"),
    { status: 500, body: expect.stringContaining('"code":"workflow_failed"') },
  ],
  [
    "a cancellation while a caller waits",
    (place) => cancelled(place, "/nap"),
    { status: 409, body: expect.stringContaining('"code":"workflow_cancelled"') },
  ],
  [
    "a deadline",
    async (place) => {
      // Whenever it is over, it finds the same state.
      const answer = await place.post("/unclaimed?timeout=0.2", null);
      await cancel("unclaimed", idOf(answer));
      return answer;
    },
    { status: 202, headers: LOCATED, body: state("CREATED") },
  ],
  [
    "a key that was used before",
    async (place) => {
      const key = { "idempotency-key": `first-${place.name}` };
      await place.post("/hello_world", "Ada", key);
      return place.post("/hello_world", "Ada", key);
    },
    { status: 200, headers: { "idempotency-replayed": "true" }, body: '"Hello, Ada!"' },
  ],
  [
    "a resume that ends in the next pause",
    async (place) => place.post(`/interview/resume/${await place.interviewed()}`, "a"),
    { status: 202, headers: LOCATED, body: expect.stringContaining('"name":"second"') },
  ],
  [
    "a resume that completes",
    async (place) => {
      const path = `/interview/resume/${await place.interviewed()}`;
      await place.post(path, "a");
      return place.post(`${path}/sync`, "b");
    },
    { status: 200, body: '["a","b"]' },
  ],
  [
    "a resume that completes, in the detailed form",
    async (place) => {
      const path = `/interview/resume/${await place.interviewed()}`;
      await place.post(path, "a");
      return place.post(`${path}?detailed=true`, "b");
    },
    { status: 200, body: expect.stringContaining('"output":["a","b"]') },
  ],
  [
    "a resume that was accepted",
    async (place) => place.post(`/interview/resume/${await place.interviewed()}/async`, "a"),
    { status: 202, headers: LOCATED, body: state("RESUMING") },
  ],
];

test.each(ANSWERS)(
  "SVC-45 GW-10 %s is the same answer at the server and at an address of its own",
  async (_, ask, answer) => {
    const [server, own] = await each(ask);
    expect(evened(server)).toMatchObject({ isWhole: true, ...answer });
    expect(evened(own)).toEqual(evened(server));
  },
);

/** A stream whose run waits in the middle until its first frames have come. */
async function held(place: Place): Promise<Received> {
  const file = engine.home.file(`${place.name}-streamed.txt`);
  const asked = place.open("/held/stream", file);
  // They came before the end, since that waits for them.
  await asked.shows(/^event: held\.execution\.running$/m);
  await writeFile(file, "");
  return asked.received();
}

const started = (workflow: string, ...more: string[]) =>
  ["created", "claimed", "running", ...more].map((name) => `${workflow}.execution.${name}`);
const resumed = (...more: string[]) =>
  ["resuming", "claimed", "running", ...more].map((name) => `interview.execution.${name}`);

type Stream = readonly [
  outcome: string,
  ask: (place: Place) => Promise<Received>,
  events: readonly string[],
  last: object,
];

const STREAMS: readonly Stream[] = [
  ["to completion", held, started("held", "completed"), { state: "COMPLETED" }],
  [
    "with progress",
    (place) => place.post("/counting/stream", 2),
    [
      ...started("counting"),
      ...Array.from({ length: 4 }, () => "task.progress"),
      "counting.execution.completed",
    ],
    { state: "COMPLETED", output: 4 },
  ],
  [
    "to a pause",
    (place) => place.post("/interview/stream", engine.home.file("interviews.txt")),
    started("interview", "paused"),
    { state: "PAUSED", pause: { name: "first" } },
  ],
  [
    "to a failure",
    (place) => place.post("/failing/stream", "no ✗"),
    started("failing", "failed"),
    { state: "FAILED", error: { code: "workflow_failed" } },
  ],
  [
    "to a cancellation",
    (place) => cancelled(place, "/nap/stream"),
    // It is run once more, for what it cleans up.
    started("nap", "cancelling", "claimed", "running", "cancelled"),
    { state: "CANCELLED", error: { code: "workflow_cancelled" } },
  ],
  [
    "of a resume to the next pause",
    async (place) => place.post(`/interview/resume/${await place.interviewed()}/stream`, "a"),
    resumed("paused"),
    { state: "PAUSED", pause: { name: "second" } },
  ],
  [
    "of a resume to completion",
    async (place) => {
      const path = `/interview/resume/${await place.interviewed()}`;
      await place.post(path, "a");
      return place.post(`${path}/stream`, "b");
    },
    resumed("completed"),
    { state: "COMPLETED", output: ["a", "b"] },
  ],
];

test.each(STREAMS)(
  "SVC-45 SVC-52 SVC-53 GW-10 a stream %s has the same frames at the server and at an address of its own",
  async (_, ask, events, last) => {
    const [server, own] = await each(ask);
    expect(told(server)).toMatchObject({ events, last });
    expect(evened(server)).toMatchObject({ status: 200, isWhole: true });
    expect(evened(own)).toEqual(evened(server));
  },
);

/** What both places say of the same execution, with nothing evened but the times of answers. */
async function both(path: string, headers?: Record<string, string>): Promise<[Received, Received]> {
  return each((place) => place.follow(path, headers).received());
}

test.each([
  ["COMPLETED", "hello_world", "Ada"],
  ["PAUSED", "interview", "interviews.txt"],
  ["FAILED", "failing", "no"],
] as const)(
  "SVC-34 SVC-35 GW-10 both say byte for byte the same of an execution that is %s",
  async (expected, workflow, input) => {
    const id = idOf(await places[1].post(`/${workflow}`, input));
    const [server, own] = await both(`/services/tried/${workflow}/status/${id}`);
    expect(JSON.parse(server.text)).toMatchObject({ execution_id: id, state: expected });
    expect([own.status, own.text]).toEqual([server.status, server.text]);
    expect(evened(own)).toEqual(evened(server));
    if (expected === "PAUSED") return;
    // Those that were missed, and the state as it is for whoever missed none.
    for (const headers of [{}, { "last-event-id": "1" }]) {
      const [frames, others] = await both(`/services/tried/${workflow}/stream/${id}`, headers);
      expect(told(frames).last).toMatchObject({ state: expected });
      expect(others.text).toBe(frames.text);
      expect(evened(others)).toEqual(evened(frames));
    }
  },
);

test("SVC-33 SVC-43 GW-10 both refuse the same: an id of nobody, a finished execution, a name of nothing", async () => {
  const id = idOf(await places[1].post("/hello_world", "Ada"));
  for (const [path, status] of [
    ["/hello_world/resume/none", 404],
    [`/interview/resume/${id}`, 404],
    [`/hello_world/resume/${id}`, 409],
    [`/hello_world/resume/${id}/stream`, 409],
    ["/hello_world?timeout=0", 422],
    ["/nothing", 404],
  ] as const) {
    const [server, own] = await each((place) => place.post(path, null));
    expect([path, server.status]).toEqual([path, status]);
    expect([path, evened(own)]).toEqual([path, evened(server)]);
  }
});

test("SVC-35 SVC-54 GW-12 who attaches at either place reads the same frames, the first of them at once", async () => {
  const file = engine.home.file("attached.txt");
  const id = idOf(await places[1].post("/held/async", file));
  await engine.untilIs(id, (record) => record.state === "RUNNING");
  const readers = places.map((place) => place.follow(`/services/tried/held/stream/${id}`));
  for (const reader of readers) await reader.shows(/^event: held\.execution\.running$/m);
  await writeFile(file, "");
  const [server, own] = await Promise.all(readers.map((reader) => reader.received()));
  if (!server || !own) throw new Error("two readers were started");
  expect(told(server).events).toEqual(["held.execution.running", "held.execution.completed"]);
  expect(evened(own)).toEqual(evened(server));
});

test("SVC-35 SVC-54 GW-12 a paused execution is followed through its pause at either place", async () => {
  const id = await places[1].interviewed();
  const readers = places.map((place) => place.follow(`/services/tried/interview/stream/${id}`));
  for (const reader of readers) await reader.shows(/^event: interview\.execution\.paused$/m);
  for (const answer of ["a", "b"]) await places[1].post(`/interview/resume/${id}`, answer);
  const [server, own] = await Promise.all(readers.map((reader) => reader.received()));
  if (!server || !own) throw new Error("two readers were started");
  expect(told(server).events).toEqual([
    "interview.execution.paused",
    ...resumed("paused"),
    ...resumed("completed"),
  ]);
  expect(evened(own)).toEqual(evened(server));
});

test("SVC-45 SVC-48 SVC-53 GW-10 a server that drains answers who waits, and ends streams, the same at both", async () => {
  const file = engine.home.file("drained.txt");
  const waiting = places.map((place) => place.open("/held", file));
  const streams = places.map((place) => place.open("/held/stream", file));
  for (const stream of streams) await stream.shows(/^event: held\.execution\.running$/m);
  await until("all four run", async () => {
    const path = "/workflows/default/held/executions?state=running";
    return (await engine.http.get<{ total: number }>(path)).body.total === 4;
  });
  engine.server.signal("SIGTERM");
  const [answered, other] = await Promise.all(waiting.map((asked) => asked.received()));
  const [frames, others] = await Promise.all(streams.map((asked) => asked.received()));
  if (!answered || !other || !frames || !others) throw new Error("four requests were made");
  expect(evened(answered)).toMatchObject({ status: 202, body: state("RUNNING"), headers: LOCATED });
  expect(evened(other)).toEqual(evened(answered));
  expect(told(frames).events).toEqual(started("held"));
  expect(evened(others)).toEqual(evened(frames));

  await engine.server.exited;
  engine.startServerAgain();
  await writeFile(file, "");
  for (const received of [answered, other, frames, others]) {
    expect(await engine.untilEnded(idOf(received))).toMatchObject({ state: "COMPLETED" });
  }
});

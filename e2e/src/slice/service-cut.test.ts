import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { type ServiceProcess, startService } from "../harness/service-process.ts";
import { TcpBalancer } from "../harness/tcp-balancer.ts";
import { until } from "../harness/until.ts";
import { WireRequest } from "../harness/wire-request.ts";

let engine: Engine;
/** Between the process that serves the service and the server. */
let network: TcpBalancer;
let alone: ServiceProcess;
/** Heads of POSTs that the server was sent. */
let posts: string[];
/** Bytes that the server was sent. */
let sent: number;
/** What was there before. */
let before: ReadonlySet<string>;
/** What the runs of a test wait for. */
let file: string;
let tests = 0;

beforeAll(async () => {
  engine = await startEngine();
  await engine.register("held", "hello", "voluminous");
  const { code, stderr } = await engine.cli("service", "create", "tried", "--namespace", "default");
  if (code !== 0) throw new Error(stderr);
});

afterAll(() => engine?.[Symbol.asyncDispose]());

beforeEach(async () => {
  network = await TcpBalancer.start(() => [Number(new URL(engine.url).port)]);
  [posts, sent] = [[], 0];
  network.listen((text, from) => {
    if (from === "server") return;
    posts.push(...(text.match(/^POST \S+/gm) ?? []));
    sent += text.length;
  });
  alone = await startService(engine, "tried", { serverUrl: network.url });
  before = new Set(await executions());
  tests += 1;
  file = engine.home.file(`go-${tests}.txt`);
});

afterEach(async () => {
  await alone.kill();
  await network[Symbol.asyncDispose]();
});

/** Ids, newest first. */
async function executions(): Promise<string[]> {
  const { body } = await engine.http.get<{ items: { execution_id: string }[] }>(
    "/executions?limit=100",
  );
  return body.items.map(({ execution_id }) => execution_id);
}

/** What this test has begun. */
async function begun(): Promise<string[]> {
  return (await executions()).filter((id) => !before.has(id));
}

async function untilRunning(count: number): Promise<void> {
  await until(`${count} run`, async () => {
    const path = "/workflows/default/held/executions?state=running";
    return (await engine.http.get<{ total: number }>(path)).body.total === count;
  });
}

/** Lets what runs go on; each comes to its end. */
async function released(): Promise<void> {
  await writeFile(file, "");
  for (const id of await begun()) {
    expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED" });
  }
}

const post = (path: string, body: unknown) => WireRequest.post(alone.url + path, body);

/** Asks for a stream, and reads it up to where the run waits. */
async function streaming(): Promise<WireRequest> {
  const stream = post("/held/stream", file);
  await stream.shows(RUNNING);
  return stream;
}

const RUNNING = /^event: held\.execution\.running\ndata: .*\n\n/m;

/** What came of a stream that is cut while its run waits: three whole frames and nothing else. */
async function cutStream(stream: WireRequest): Promise<void> {
  const { status, isWhole, text } = await stream.received();
  expect([status, isWhole]).toEqual([200, false]);
  expect(text.match(/^event: .*$/gm)).toEqual(FRAMES);
  expect(text).toMatch(/\n\n$/);
}

const FRAMES = ["created", "claimed", "running"].map((state) => `event: held.execution.${state}`);
/** Of a connection that breaks before there is an answer. */
const BROKEN = { code: "ECONNRESET" };

/** Another one in the place of the one that was killed. */
async function startAgain(): Promise<void> {
  const { port } = new URL(alone.url);
  alone = await startService(engine, "tried", { port, serverUrl: network.url });
}

async function greets(): Promise<void> {
  const { status, text } = await post("/hello_world", "Ada").received();
  expect([status, text]).toEqual([200, '"Hello, Ada!"']);
}

/** Sends a half of a body, up to where the server has a good part of it. */
async function sendHalf(): Promise<WireRequest> {
  const length = 4_000_000;
  const request = new WireRequest(`${alone.url}/swallow/async`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": String(length) },
  });
  // What becomes of it is asked for later.
  request.head.catch(() => undefined);
  request.write(`"${"x".repeat(length / 2)}`);
  await until("the server has what was sent of the body", () => sent > length / 2);
  return request;
}

test("GW-12 killed while a caller waits: one execution, which goes on, and the next process serves at once", async () => {
  const waiting = post("/held", file);
  const answer = expect(waiting.received()).rejects.toMatchObject(BROKEN);
  await untilRunning(1);
  await alone.kill();
  await answer;
  await startAgain();
  expect(await begun()).toHaveLength(1);
  await greets();
  await released();
  expect(posts).toEqual(["POST /services/tried/held", "POST /services/tried/hello_world"]);
  expect(await begun()).toHaveLength(2);
});

test("GW-12 killed in the middle of a stream: it breaks off, one execution goes on, and the next process follows it", async () => {
  const stream = await streaming();
  await alone.kill();
  await cutStream(stream);
  const [id] = await begun();
  await startAgain();
  const followed = new WireRequest(`${alone.url}/held/stream/${id}`);
  await followed.shows(RUNNING);
  await released();
  const { isWhole, text } = await followed.received();
  expect(isWhole).toBe(true);
  expect(text.match(/^event: .*$/gm)?.at(-1)).toBe("event: held.execution.completed");
  expect(await begun()).toEqual([id]);
});

test("GW-12 killed in the middle of a body: nothing was begun, and nothing is begun later", async () => {
  const request = await sendHalf();
  await alone.kill();
  await expect(request.received()).rejects.toMatchObject(BROKEN);
  await startAgain();
  await greets();
  expect(await begun()).toHaveLength(1);
  await released();
});

test("GW-12 a caller that leaves in the middle of a body has begun nothing, one that leaves while it waits has", async () => {
  const half = await sendHalf();
  half.leave();
  await expect(half.received()).rejects.toMatchObject(BROKEN);
  const waiting = post("/held", file);
  const answer = expect(waiting.received()).rejects.toMatchObject(BROKEN);
  await untilRunning(1);
  waiting.leave();
  await answer;
  await greets();
  expect(await begun()).toHaveLength(2);
  await released();
});

test("GW-12 GW-14 the server is killed: streams break off, who waits is told 502, nothing is sent twice, and it serves again", async () => {
  const stream = await streaming();
  const waiting = post("/held", file);
  await untilRunning(2);
  await engine.server.kill();
  await cutStream(stream);
  const answer = await waiting.received();
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
    502,
    { error: { code: "upstream_unreachable" } },
  ]);
  expect(answer.text).not.toContain(new URL(network.url).port);
  engine.startServerAgain();
  await until("the server answers", () => engine.http.isHealthy());
  await greets();
  expect(posts).toEqual([
    "POST /services/tried/held/stream",
    "POST /services/tried/held",
    "POST /services/tried/hello_world",
  ]);
  expect(await begun()).toHaveLength(3);
  await released();
});

test("GW-12 the network breaks while a caller waits and in a stream: no POST is sent twice", async () => {
  const stream = await streaming();
  const waiting = post("/held", file);
  await untilRunning(2);
  network.cut();
  await cutStream(stream);
  const answer = await waiting.received();
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
    502,
    { error: { code: "upstream_unreachable" } },
  ]);
  await greets();
  expect(posts).toHaveLength(3);
  expect(await begun()).toHaveLength(3);
  await released();
});

test("GW-12 the network breaks in the middle of a body: the caller is told, and nothing was begun", async () => {
  const request = await sendHalf();
  network.cut();
  const answer = await request.received();
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
    502,
    { error: { code: "upstream_unreachable" } },
  ]);
  await greets();
  expect(posts).toEqual(["POST /services/tried/swallow/async", "POST /services/tried/hello_world"]);
  expect(await begun()).toHaveLength(1);
});

test("GW-12 the network breaks in the middle of a large output: what came is its beginning, and no end", async () => {
  const name = "y".repeat(15_000_000);
  const asked = post("/hello_world", name);
  const message = await asked.head;
  // Whoever does not read leaves the rest of it behind.
  message.pause();
  network.cut();
  message.resume();
  const { status, headers, isWhole, text } = await asked.received();
  expect([status, isWhole]).toEqual([200, false]);
  expect(Number(headers["content-length"])).toBe(name.length + '"Hello, !"'.length);
  expect(`"Hello, ${name}!"`.startsWith(text)).toBe(true);
  expect(posts).toEqual(["POST /services/tried/hello_world"]);
  expect(await begun()).toHaveLength(1);
});

test("GW-12 whenever the network breaks, a request begins one execution or none, and one that was answered one", async () => {
  const names = Array.from({ length: 60 }, (_, n) => `caller ${n}`);
  let pieces = 0;
  // Of some requests the server hears nothing, of some the answer is lost, and some are not hit.
  network.listen(() => {
    pieces += 1;
    if (pieces % 5 === 0) network.cut();
  });
  const answers = new Map<string, number>();
  const left = names.values();
  const lane = async () => {
    for (const name of left) {
      answers.set(name, (await post("/hello_world", name).received()).status);
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  expect(new Set(answers.values())).toEqual(new Set([200, 502]));
  expect(posts.length).toBeLessThanOrEqual(names.length);

  const inputs: unknown[] = [];
  for (const id of await begun()) inputs.push((await engine.untilEnded(id)).input);
  expect(inputs.toSorted()).toEqual([...new Set(inputs)].toSorted());
  const answered = names.filter((name) => answers.get(name) === 200);
  expect(inputs).toEqual(expect.arrayContaining(answered));
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "GW-23 after %s who waits is answered, streams end without a frame more, and the process exits 0",
  async (signal) => {
    const stream = await streaming();
    const waiting = post("/held?detailed=true", file);
    await untilRunning(2);
    alone.signal(signal);
    const { status, isWhole, text } = await stream.received();
    expect([status, isWhole, text.match(/^event: .*$/gm)]).toEqual([200, true, FRAMES]);
    await expect(post("/hello_world", "Ada").received()).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
    await writeFile(file, "");
    const answer = await waiting.received();
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { state: "COMPLETED" }]);
    expect(await alone.result()).toMatchObject({ code: 0 });
    expect(await begun()).toHaveLength(2);
    await released();
  },
);

test("GW-23 told a second time it does not wait for who waits", async () => {
  const stream = await streaming();
  const waiting = post("/held", file);
  const answer = expect(waiting.received()).rejects.toMatchObject(BROKEN);
  await untilRunning(2);
  alone.signal("SIGTERM");
  // Its end tells that the first signal was heard.
  await stream.received();
  const asked = performance.now();
  alone.signal("SIGTERM");
  expect(await alone.result()).toMatchObject({ code: 1 });
  // Who waits would have had thirty seconds.
  expect(performance.now() - asked).toBeLessThan(20_000);
  await answer;
  expect(await begun()).toHaveLength(2);
  await released();
});

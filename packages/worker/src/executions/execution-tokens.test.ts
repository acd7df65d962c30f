import { EngineError, type ExecutionToken, formatInstant } from "@engine/contract";
import { expect, test } from "vitest";
import { ManualTime } from "../testing/manual-time.ts";
import { Copies } from "./copy.ts";
import { ExecutionTokens } from "./execution-tokens.ts";

const HOUR = 3_600_000;

/** A copy that was assigned with a token for an hour, and a server that makes more of them. */
function createTokens() {
  const time = new ManualTime();
  const copy = new Copies().add({
    execution_id: "e",
    module_hash: "m",
    name: null,
    generation: 1,
    seq: 1,
    listening: false,
  });
  const renewals: number[] = [];
  const server = {
    answer: async (): Promise<ExecutionToken> => token(`t${renewals.length + 1}`),
  };
  const tokens = new ExecutionTokens({
    setTimer: time.setTimer,
    serverTime: time.monotonic,
    renew: (asked) => {
      renewals.push(asked.generation);
      return server.answer();
    },
  });
  const token = (text: string, ms = HOUR): ExecutionToken => ({
    token: text,
    expires_at: formatInstant(time.monotonic() + ms),
  });
  return { time, copy, tokens, token, renewals, server };
}

test("AUTH-39 a task gets the token of the assignment, and the server is not asked", async () => {
  const { copy, tokens, token, renewals } = createTokens();
  tokens.keep(copy, token("t1"));
  expect(await tokens.of(copy)).toBe("t1");
  expect(await tokens.of(copy)).toBe("t1");
  expect(renewals).toEqual([]);
});

test("EXE-5 AUTH-39 with authorization off there is no token, and nobody is asked for one", async () => {
  const { copy, tokens, renewals, time } = createTokens();
  expect(await tokens.of(copy)).toBeNull();
  await time.advance(10 * HOUR);
  expect(renewals).toEqual([]);
});

test("AUTH-42 a token is renewed at half of its life, and again at half of the next one's", async () => {
  const { time, copy, tokens, token, renewals } = createTokens();
  tokens.keep(copy, token("t1"));
  await time.advance(HOUR / 2 - 1);
  expect(renewals).toEqual([]);
  await time.advance(1);
  expect(renewals).toEqual([1]);
  expect(await tokens.of(copy)).toBe("t2");
  await time.advance(HOUR);
  expect(renewals).toHaveLength(3);
  expect(await tokens.of(copy)).toBe("t4");
});

test("AUTH-42 a copy that is gone renews nothing", async () => {
  const { time, copy, tokens, token, renewals } = createTokens();
  tokens.keep(copy, token("t1"));
  tokens.drop(copy);
  await time.advance(10 * HOUR);
  expect(renewals).toEqual([]);
});

test("AUTH-42 while the server does not renew, a token serves until it expires, then tasks hear why not", async () => {
  const { time, copy, tokens, token, server } = createTokens();
  tokens.keep(copy, token("t1"));
  server.answer = () => Promise.reject(new EngineError("permission_denied", "not any more"));
  await time.advance(HOUR - 1);
  expect(await tokens.of(copy)).toBe("t1");
  await time.advance(1);
  await expect(tokens.of(copy)).rejects.toMatchObject({ code: "permission_denied" });
  server.answer = async () => token("later");
  expect(await tokens.of(copy)).toBe("later");
});

test("AUTH-42 two tasks that ask at one time make one request", async () => {
  const { time, copy, tokens, token, renewals } = createTokens();
  tokens.keep(copy, token("t1", 1));
  time.jump(1);
  expect(await Promise.all([tokens.of(copy), tokens.of(copy)])).toEqual(["t2", "t2"]);
  expect(renewals).toEqual([1]);
});

test("AUTH-41 WRK-9 a token of an earlier claim is not given out: a new one is asked for", async () => {
  const { copy, tokens, token, renewals } = createTokens();
  tokens.keep(copy, token("t1"));
  copy.generation = 3;
  expect(await tokens.of(copy)).toBe("t2");
  expect(renewals).toEqual([3]);
});

test("AUTH-62 where authorization was turned on or off meanwhile, the server's answer counts", async () => {
  const { copy, tokens, token, server } = createTokens();
  copy.rights = { task_grants: ["*"], hold: false };
  expect(await tokens.of(copy)).toBe("t2");

  server.answer = () => Promise.reject(new EngineError("not_found", "authorization is off"));
  tokens.keep(copy, token("short", 0));
  expect(await tokens.of(copy)).toBeNull();
});

test("AUTH-42 tokens that hardly live, or whose end cannot be read, are not renewed in a loop", async () => {
  const { time, copy, tokens, server, renewals } = createTokens();
  server.answer = async () => ({ token: "t", expires_at: "whenever" });
  tokens.keep(copy, { token: "t", expires_at: "whenever" });
  await time.advance(10_000);
  expect(renewals.length).toBeLessThanOrEqual(10);
});

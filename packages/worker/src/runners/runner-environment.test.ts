import { expect, test } from "vitest";
import { processEnvironment, threadEnvironment } from "./runner-environment.ts";

const ENV = {
  PATH: "/bin",
  HOME: "/home/me",
  LANG: "C",
  LC_ALL: "C",
  TZ: "UTC",
  TMPDIR: "/tmp",
  AWS_SECRET_ACCESS_KEY: "secret",
  MODEL_CACHE: "/models",
  NODE_OPTIONS: "--inspect",
  ENGINE_DATABASE_URL: "postgres://secret",
  engine_auth_token: "secret",
  ENGINE_SCRIPTED_LOG: "/tmp/scripted.log",
  ENGINE_SCRIPTED_LOG_TOKEN: "secret",
};

test("AUTH-55 a thread gets everything but the engine's own variables and what is denied", () => {
  const env = threadEnvironment(ENV, { env_allow: [], env_deny: ["AWS_SECRET_ACCESS_KEY"] });
  expect(Object.keys(env).sort()).toEqual(
    [
      ...["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "MODEL_CACHE", "NODE_OPTIONS"],
      "ENGINE_SCRIPTED_LOG",
    ].sort(),
  );
});

test("AUTH-55 a process gets what every program needs and what is allowed, and never what is denied", () => {
  const env = processEnvironment(ENV, {
    env_allow: ["MODEL_CACHE", "AWS_SECRET_ACCESS_KEY", "ENGINE_DATABASE_URL"],
    env_deny: ["AWS_SECRET_ACCESS_KEY", "TZ"],
  });
  expect(env).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LANG: "C",
    LC_ALL: "C",
    TMPDIR: "/tmp",
    MODEL_CACHE: "/models",
    ENGINE_SCRIPTED_LOG: "/tmp/scripted.log",
  });
});

test("AUTH-55 where the scripted models log is told to runners unless that is denied", () => {
  const rules = { env_allow: [], env_deny: ["ENGINE_SCRIPTED_LOG"] };
  for (const env of [threadEnvironment(ENV, rules), processEnvironment(ENV, rules)]) {
    expect(env).not.toHaveProperty("ENGINE_SCRIPTED_LOG");
  }
});

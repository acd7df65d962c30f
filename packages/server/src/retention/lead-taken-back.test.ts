import { interposed } from "@engine/store";
import { expect, test } from "vitest";
import { settled } from "../testing/manual-time.ts";
import { silent, TestEngine } from "../testing/start-engine.ts";
import { Retention } from "./retention.ts";

test("EXE-98 a lead that is lost and taken back during a sweep does not make two sweeps of every later one", async () => {
  await using t = await TestEngine.start();
  await t.engine.close();
  const sweeps: (() => void)[] = [];
  const store = interposed(t.store, ({ name }, call) => {
    if (name !== "retention.deleteFinished") return undefined;
    return async (...asked) => {
      await new Promise<void>((resolve) => sweeps.push(resolve));
      return call?.(...asked);
    };
  });
  const { clock, setTimer } = t.time;
  const { values, config } = t;
  const retention = new Retention({
    ports: { store, values, config, clock, setTimer, log: silent },
    epochs: { raised: () => undefined },
  });
  await retention.start();
  await t.time.advance(1);
  retention.stop();
  await retention.start();
  await t.time.advance(1);
  for (const go of sweeps.splice(0)) go();
  await settled();
  await t.time.advance(config.retention.sweep_interval * 1_000);
  expect(sweeps).toHaveLength(1);
  retention.stop();
  for (const go of sweeps) go();
  await settled();
});

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallDisk } from "@engine/store/small-disk";
import { expect, onTestFinished, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

const disk = smallDisk("size=24m");

const isReady = async ({ http }: Engine) => (await http.get("/ready")).status === 200;

// The database and the values lie on the disk; what the worker writes does not.
test.skipIf(disk === undefined)(
  "I2 I10 a server whose disk is full loses nothing, runs nothing again, and goes on by itself",
  async () => {
    if (!disk) return;
    onTestFinished(() => disk.remove());
    await using engine = await startEngine({
      store: "sqlite",
      env: {
        ENGINE_DATABASE_URL: `sqlite:${join(disk.path, "engine.db")}`,
        ENGINE_STORAGE__PATH: join(disk.path, "values"),
      },
    });
    await engine.register("hoard");
    const [file, gate] = [engine.home.file("lines"), engine.home.file("gate")];
    writeFileSync(file, "");
    const input = { file, gate, length: 300_000 };
    const lines = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
    const running = await Promise.all([1, 2, 3].map(() => engine.start("hoard", input)));
    await until("each of them runs its first task", () => lines().length === running.length);

    disk.fill();
    const acknowledged: string[] = [];
    for (;;) {
      const { status, body } = await engine.http.post("/workflows/hoard/run/async", input);
      if (status !== 202) {
        expect([status, body]).toMatchObject([503, { error: { code: "unavailable" } }]);
        expect(JSON.stringify(body)).not.toContain(disk.path);
        break;
      }
      acknowledged.push((body as { execution_id: string }).execution_id);
    }
    await until("the server takes no work", async () => !(await isReady(engine)));
    // What runs comes to its outcomes, which are too large for the log, and have no place to go.
    writeFileSync(gate, "");
    for (let n = 0; n < 20; n++) {
      expect((await engine.http.get("/ready")).status).toBe(503);
      expect((await engine.http.get("/health")).status).toBe(200);
      expect((await engine.http.get(`/executions/${running[0]}`)).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(readdirSync(join(disk.path, "values", ".writing"))).toEqual([]);

    disk.free();
    await until("the server takes work again", () => isReady(engine));
    const later = await engine.start("hoard", input);
    for (const id of [...running, ...acknowledged, later]) {
      expect(await engine.untilEnded(id), engine.processReport()).toMatchObject({
        state: "COMPLETED",
        output: 900_000,
      });
    }
    const ran = lines();
    expect(new Set(ran).size).toBe(ran.length);
    expect(ran).toHaveLength(3 * (running.length + acknowledged.length + 1));
  },
);

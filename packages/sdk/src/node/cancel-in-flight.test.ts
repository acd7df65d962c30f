/** A cancel arrives while a checkpoint is under way: where it stands in the log is not known yet. */
import { expect, test } from "vitest";
import { parallel, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

/** The answer to the first delta with an event of that type comes late, or the delta itself does. */
function keepBack(scene: Scene, what: "answer" | "delta", type: string): () => void {
  const late = Promise.withResolvers<void>();
  let isKept = false;
  const keep = ({ events }: { readonly events: string }) => {
    if (isKept || !events.includes(type)) return undefined;
    isKept = true;
    return late.promise;
  };
  const { engine } = scene;
  if (what === "delta") engine.onDelta = (_, delta) => keep(delta);
  else {
    engine.onReply = async (_, delta, reply) => {
      await keep(delta);
      return reply;
    };
  }
  return () => late.resolve();
}

/** A task that calls another when told to, and a sibling whose end is on its way to the log. */
async function running(late: "answer" | "delta") {
  const ran: string[] = [];
  const goes = Promise.withResolvers<void>();
  const inner = task({ name: "inner" }, async () => void ran.push("inner"));
  const outer = task({ name: "outer" }, async () => {
    await goes.promise;
    await inner();
  });
  const quick = task({ name: "quick" }, async () => 1);
  const scene = new Scene([workflow({ name: "w" }, async () => parallel([outer, quick]))]);
  const arrives = keepBack(scene, late, "TASK_COMPLETED");
  await scene.start();
  return { scene, ran, go: goes.resolve, arrives };
}

test.each(["answer", "delta"] as const)(
  "EXE-42 I13 no fallback begins once a cancel is told, though the %s of the rollback is late",
  async (what) => {
    const ran: string[] = [];
    const fails = task(
      {
        name: "fails",
        rollback: () => void ran.push("rollback"),
        fallback: () => void ran.push("fallback"),
      },
      async () => Promise.reject(new Error("no")),
    );
    const scene = new Scene([workflow({ name: "w" }, async () => fails())]);
    const arrives = keepBack(scene, what, "TASK_ROLLBACK_COMPLETED");
    await scene.start();
    scene.engine.cancel("e1");
    await scene.settle();
    arrives();
    await scene.toEnd();
    expect(ran).toEqual(["rollback"]);
    expect(scene.row().state).toBe("CANCELLED");
  },
);

test.each(["answer", "delta"] as const)(
  "EXE-42 I13 no task begins in a running one once a cancel is told, though the %s of a sibling is late",
  async (what) => {
    const { scene, ran, go, arrives } = await running(what);
    scene.engine.cancel("e1");
    await scene.settle();
    go();
    await scene.settle();
    expect(ran).toEqual([]);
    arrives();
    await scene.toEnd();
    expect(ran).toEqual([]);
    expect(scene.row().state).toBe("CANCELLED");
  },
);

test("EXE-42 WRK-8 what is held when a cancel is told does not begin when the hold ends", async () => {
  const { scene, ran, go, arrives } = await running("answer");
  scene.engine.copyOf("e1")?.hold(true);
  go();
  scene.engine.cancel("e1");
  await scene.settle();
  scene.engine.copyOf("e1")?.hold(false);
  await scene.settle();
  expect(ran).toEqual([]);
  arrives();
  await scene.toEnd();
  expect(ran).toEqual([]);
  expect(scene.row().state).toBe("CANCELLED");
});

import { NO_SIGNALS } from "@engine/contract";
/** A signal that was taken while the end was on its way: the log says that nobody waited for it. */
import { expect, test } from "vitest";
import { pause, signal, task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

const step = task({ name: "step" }, () => "stepped");

function warnings(scene: Scene): string[] {
  return scene.log().flatMap(({ type, value }) => {
    return type === "WORKFLOW_WARNING" ? [(value as { message: string }).message] : [];
  });
}

test.each<[string, () => Promise<unknown>]>([
  ["at once", async () => "end"],
  ["after a task", () => step()],
  ["by throwing", async () => Promise.reject(new Error("no"))],
  ["with a call left open", async () => void pause("left").catch(() => {})],
])(
  "EXE-53 of a body that ends %s, a signal in any turn before the end is told",
  async (_, body) => {
    for (let turn = 0; turn < 20; turn++) {
      const scene = new Scene([workflow({ name: "w" }, body)], { limits: { sibling_grace: 0.01 } });
      const { host } = scene.clock;
      const { drain } = host;
      let [turns, isTaken] = [0, false];
      Object.assign(host, {
        drain: (go: () => void) =>
          drain(() => {
            if (turns++ === turn && scene.row().session !== null) {
              scene.engine.signal("e1", "news", turn);
              isTaken = true;
            }
            go();
          }),
      });
      await scene.run();
      expect(["COMPLETED", "FAILED"]).toContain(scene.row().state);
      const told = ["signals that no call waited for: news"];
      expect(warnings(scene), `turn ${turn}`).toEqual(isTaken ? told : []);
      const times = scene.log().map(({ time }) => time);
      expect(times).toEqual([...times].sort());
    }
  },
);

test("EXE-53 so are signals of an execution that the server ends", async () => {
  const scene = new Scene([workflow({ name: "w" }, async () => signal("other"))]);
  const [wf] = [workflow({ name: "w" }, async () => signal("other"))];
  const { execution_id } = scene.engine.start(wf, null);
  scene.engine.signal(execution_id, "news", 1);
  scene.engine.cancel(execution_id);
  expect(scene.row()).toMatchObject({ state: "CANCELLED", signals: NO_SIGNALS });
  expect(warnings(scene)).toEqual(["signals that no call waited for: news"]);
});

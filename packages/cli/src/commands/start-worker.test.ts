import { expect, test } from "vitest";
import { capturedIo } from "../captured-io.ts";
import { runCli } from "../run-cli.ts";

test.each([
  [["--label", "gpu"], {}, /KEY=VALUE/],
  [["--label", "=a100"], {}, /KEY=VALUE/],
  [["--label", "-gpu=a100"], {}, /label -gpu: /],
  [["--label", "engine.zone=eu"], {}, /keys beginning "engine\." belong to the engine/],
  [[], { ENGINE_WORKERS__LABELS: '{"engine.zone":"eu"}' }, /keys beginning "engine\."/],
  [["a b"], {}, /worker name "a b" must be a name/],
  [["local"], {}, /worker name "local" is a reserved name/],
])(
  "WRK-5 `engine start worker` with %j %j stops at start, exit code 2",
  async (args, env, message) => {
    const io = capturedIo({ env });
    expect(await runCli(["start", "worker", ...args], io)).toBe(2);
    expect(io.complained()).toMatch(message);
  },
);

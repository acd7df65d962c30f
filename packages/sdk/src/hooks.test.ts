import { expect, expectTypeOf, test } from "vitest";
import { type HookOptions, type WorkflowOptions, workflow } from "./index.ts";

const page = { on: "failed", workflow: "ops/page", principal: "ops-bot" } as const;

test("HOOK-47 the option hooks takes a list, as it is registered", () => {
  const hooks = [page, { ...page, on: ["charge:failed"], name: "ask", maxAttempts: 10 }] as const;
  const charge = workflow({ name: "charge", hooks }, async () => 1);
  expect(charge.options.hooks).toEqual(hooks);
  expectTypeOf<WorkflowOptions<unknown, unknown>["hooks"]>().toEqualTypeOf<
    readonly HookOptions[] | undefined
  >();
});

test("EXE-4 HOOK-47 a wrong hook is refused where it is written, each mistake with its place", () => {
  const wrong = () =>
    workflow(
      {
        name: "charge",
        hooks: [
          // @ts-expect-error nobody else's account is taken for it
          { on: "started", workflow: "ops/page" },
          // @ts-expect-error a hook has no address
          { ...page, url: "https://example.com" },
        ],
      },
      async () => 1,
    );
  expect(wrong).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      details: {
        issues: [
          expect.objectContaining({ path: "hooks[0].principal", rule: "invalid_option" }),
          expect.objectContaining({ path: "hooks[0].on", rule: "invalid_selector" }),
          expect.objectContaining({ path: "hooks[1].url", rule: "unknown_option" }),
        ],
      },
    }),
  );
});

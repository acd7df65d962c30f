import { expect, test } from "vitest";
import { sseComment, sseText } from "./sse.ts";

test("a frame is one event whose data is one line, with an id only when it has one", () => {
  expect(sseText({ event: "tick", data: { text: "a\nb" } })).toBe(
    'event: tick\ndata: {"text":"a\\nb"}\n\n',
  );
  expect(sseText({ event: "tick", data: null, id: 0 })).toBe("id: 0\nevent: tick\ndata: null\n\n");
  expect(sseComment("ping")).toBe(": ping\n\n");
});

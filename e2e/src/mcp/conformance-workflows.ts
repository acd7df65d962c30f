/** The workflows that the conformance suite of MCP calls as tools, by the names it expects (MCP-21). */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { progress, task, workflow } from "@engine/sdk";
import { z } from "zod";

const namespace = "conformance";

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** The head of a sound without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const image = { type: "image", data: PNG, mimeType: "image/png" };

/** Answers a text. */
export const simpleText = workflow({ name: "test_simple_text", namespace }, async () => {
  return "This is a simple text response for testing.";
});

const refuse = task({ name: "refuse" }, async (): Promise<string> => {
  throw new Error("This tool intentionally returns an error for testing");
});

/** Fails. */
export const errorHandling = workflow({ name: "test_error_handling", namespace }, async () => {
  return await refuse();
});

const goOn = task({ name: "go_on" }, async () => {
  for (const done of [0, 50, 100]) {
    progress({ progress: done, total: 100, message: `${done} of 100` });
    await wait(50);
  }
  return "all of it is done";
});

/** Tells how far it is. */
export const withProgress = workflow({ name: "test_tool_with_progress", namespace }, async () => {
  return await goOn();
});

/** Answers a picture. */
export const imageContent = workflow({ name: "test_image_content", namespace }, async () => {
  return { mcp_content: [image] };
});

/** Answers a sound. */
export const audioContent = workflow({ name: "test_audio_content", namespace }, async () => {
  return { mcp_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] };
});

/** Answers a resource that holds its text. */
export const embeddedResource = workflow(
  { name: "test_embedded_resource", namespace },
  async () => {
    const text = "This is an embedded resource content.";
    const resource = { uri: "test://embedded-resource", mimeType: "text/plain", text };
    return { mcp_content: [{ type: "resource", resource }] };
  },
);

/** Answers a text, a picture and a resource. */
export const severalKinds = workflow(
  { name: "test_multiple_content_types", namespace },
  async () => {
    const text = JSON.stringify({ test: "data", value: 123 });
    const resource = { uri: "test://mixed-content-resource", mimeType: "application/json", text };
    const intro = { type: "text", text: "Multiple content types test:" };
    return { mcp_content: [intro, image, { type: "resource", resource }] };
  },
);

const Address = z
  .object({ street: z.string().optional(), city: z.string().optional() })
  .meta({ id: "address", $anchor: "addressDef" });

/** What zod has no words for stands in its metadata, which becomes part of the schema as it is. */
const Contact = z
  .strictObject({
    name: z.string().optional(),
    address: Address.optional(),
    contactMethod: z.enum(["phone", "email"]).optional(),
    phone: z.string().optional(),
    email: z.string().optional(),
  })
  .meta({
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
  });

/** Takes what only JSON Schema 2020-12 can say. */
export const jsonSchema = workflow(
  { name: "json_schema_2020_12_tool", namespace, input: Contact },
  async (contact) => contact,
);

const register = task({ name: "register" }, async () => {
  const name = `added_${randomUUID().replaceAll("-", "_")}`;
  const source = `import { workflow } from "@engine/sdk";
/** Registered by another workflow. */
export const it = workflow({ name: "${name}", namespace: "${namespace}" }, async () => "here");
`;
  // Tasks are not told where the server is; the test tells the worker.
  const response = await fetch(`${process.env["E2E_SERVER_URL"]}/workflows`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ source }),
  });
  if (!response.ok) throw new Error(await response.text());
  return name;
});

/** Registers one more workflow, and so adds tools. */
export const triggerToolChange = workflow(
  { name: "test_trigger_tool_change", namespace },
  async () => await register(),
);

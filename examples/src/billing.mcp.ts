/**
 * What an agent does with the tools of docs/mcp.md, by the official client. Its argument is the address
 * of an MCP endpoint that offers billing.ts.
 */
import assert from "node:assert/strict";
//#region call
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = process.argv[2] ?? "http://127.0.0.1:8000/services/billing/mcp";
const client = new Client(
  { name: "billing-example", version: "1.0.0" },
  { versionNegotiation: { mode: "auto" } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

const { tools } = await client.listTools();
const billed = await client.callTool({ name: "invoice", arguments: { id: "i1", cents: 50 } });
console.log(`${tools.length} tools`, billed.structuredContent);
//#endregion

//#region pause
const asked = await client.callTool({ name: "payout", arguments: { to: "ada", cents: 900 } });
console.log(asked.content);

const { execution_id } = asked.structuredContent as { execution_id: string };
const answer = { execution_id, input: '{"approved":true}' };
const paid = await client.callTool({ name: "resume_payout", arguments: answer });
//#endregion

//#region once
const refund = {
  name: "refund",
  arguments: { id: "i1", cents: 50 },
  _meta: { "engine/idempotency_key": `refund-${execution_id}` },
};
const refunded = await client.callTool(refund);
const repeated = await client.callTool(refund);
//#endregion

await client.close();
const outputOf = (result: { structuredContent?: unknown }) =>
  (result.structuredContent as { output: unknown }).output;
assert.ok(tools.some(({ name }) => name === "status_invoice"));
assert.deepEqual(outputOf(billed), { id: "i1", receipt: "receipt-i1", total: 62 });
assert.equal(outputOf(paid), "transferred 900 cents");
assert.deepEqual(outputOf(refunded), { id: "i1", receipt: "refund-i1" });
// The same execution, and not a second one.
assert.deepEqual(repeated.structuredContent, refunded.structuredContent);

/** Branches run at once; one that fails does not stop the others when they settle. */
import assert from "node:assert/strict";
import { run } from "@engine/local";
import { planTrip } from "./parallel-and-map.ts";

const result = await run(planTrip, {
  city: "Lisbon",
  days: 3,
  guests: ["Ada", "", "Grace", "Edsger"],
});

assert.equal(result.state, "COMPLETED");
assert.deepEqual(result.output, {
  price: (40 * 6 + 25 * 6 * 3) * 3,
  booked: ["1A Ada", "3A Grace", "4A Edsger"],
  refused: ["row 2 has no passenger name"],
});

const calls = result.events.filter((event) => event.type === "TASK_STARTED");
assert.deepEqual(
  calls.map((event) => event.source_id),
  [
    "parallel~1",
    "parallel~1/price_flight~1",
    "parallel~1/price_hotel~1",
    "map~1",
    "map~1/book_seat~1",
    "map~1/book_seat~2",
    "map~1/book_seat~3",
    "map~1/book_seat~4",
  ],
);
console.log("parallel and map: results come back in input order");

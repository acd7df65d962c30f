import { testCells } from "./testing/matrix-cells.ts";

// DSP-11, each cell in which workers hold a stream; those of polling workers are in matrix-poll.test.ts.
testCells("event");

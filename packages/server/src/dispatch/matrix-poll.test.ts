import { testCells } from "./testing/matrix-cells.ts";

// DSP-11, each cell in which workers poll.
testCells("poll");

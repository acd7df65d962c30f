/**
 * The workflows of a simulation, which run the program that is their input. The server registers the
 * texts of `author/` as one (`program-source.ts`), so they import nothing of this folder but types and
 * each other.
 */

export { jointProgram, keyedProgram, sharedProgram, strictProgram } from "./author/bounded.ts";
export { countedProgram, seatedProgram } from "./author/counted.ts";
export { guest } from "./author/guest.ts";
export { hookedParent, hookedProgram } from "./author/hooked.ts";
export { guidingProgram, hiddenProgram, labelledProgram, placedProgram } from "./author/placed.ts";
export { resultOf } from "./author/result-of.ts";
export { heavyProgram, limitedProgram, program } from "./author/workflows.ts";

//#region hello
import { task, workflow } from "@engine/sdk";

const greet = task({ name: "greet" }, async (name: string) => `Hello, ${name}`);

/** Greets somebody. */
export const helloWorld = workflow({ name: "hello_world" }, async (name: string) => {
  return await greet(name);
});
//#endregion

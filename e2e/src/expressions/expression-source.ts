import type { Random } from "@engine/simulation/random";
import type { Expression } from "./random-expression.ts";

/**
 * Files that write expressions down, each part where chance will have it: in place, as a constant of the
 * file or of another one, in a list that is spread; by name, by another name or by a namespace.
 */
export class ExpressionSource {
  readonly #random: Random;
  readonly #own: string[] = [];
  readonly #others: string[] = [];
  #constants = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The text of an expression in the main file; what it refers to is among the files. */
  write(expression: Expression): string {
    return this.#hoisted(expression, "own");
  }

  files(workflows: readonly string[]): { path: string; source: string }[] {
    const builders = `import * as r from "@engine/sdk/routing";
import { ${NAMES.join(", ")}, ${NAMES.map((name) => `${name} as $${name}`).join(", ")} } from "@engine/sdk/routing";
`;
    const others = `${builders}${this.#others.join("\n")}`;
    const main = `import { workflow } from "@engine/sdk";
${builders}import * as other from "./other.ts";
${this.#own.join("\n")}
${workflows.join("\n")}
`;
    return [
      { path: "main.ts", source: main },
      { path: "other.ts", source: others },
    ];
  }

  #hoisted(expression: Expression, file: "own" | "other"): string {
    const chance = this.#random.next();
    if (chance < 0.7) return this.#text(expression, file);
    const name = `c${this.#constants++}`;
    if (chance < 0.85 || file === "other") {
      const list = file === "own" ? this.#own : this.#others;
      const text = this.#text(expression, file);
      list.push(`export const ${name} = ${text};`);
      return name;
    }
    const text = this.#text(expression, "other");
    this.#others.push(`export const ${name} = { part: [${text}] as const };`);
    return `other.${name}.part[0]`;
  }

  #text(expression: Expression, file: "own" | "other"): string {
    switch (expression.kind) {
      case "call":
        return `${this.#builder(expression.name)}(${this.#list(expression.values, file)})`;
      case "member":
        return `${this.#hoisted(expression.of, file)}.${expression.name}(${this.#list(expression.values, file)})`;
      case "list":
        return `[${this.#list(expression.values, file)}]`;
      case "object": {
        const members = Object.entries(expression.members).map(
          ([key, value]) => `${JSON.stringify(key)}: ${this.#hoisted(value, file)}`,
        );
        return `{ ${members.join(", ")} }`;
      }
      case "constant":
        return this.#constant(expression.value);
    }
  }

  #list(values: readonly Expression[], file: "own" | "other"): string {
    const texts = values.map((value) => this.#hoisted(value, file));
    if (texts.length === 0 || !this.#random.chance(0.2)) return texts.join(", ");
    const at = this.#random.below(texts.length);
    return [...texts.slice(0, at), `...[${texts.slice(at).join(", ")}]`].join(", ");
  }

  #builder(name: string): string {
    const chance = this.#random.below(3);
    return chance === 0 ? name : chance === 1 ? `$${name}` : `r.${name}`;
  }

  #constant(value: string | number | boolean): string {
    if (typeof value === "number") return Object.is(value, -0) ? "-0" : JSON.stringify(value);
    const text = JSON.stringify(value);
    if (typeof value !== "string" || value.length < 2 || !this.#random.chance(0.3)) return text;
    return `(${JSON.stringify(value.slice(0, 1))} + ${JSON.stringify(value.slice(1))})`;
  }
}

const NAMES =
  "require score label labelFor meta metaFor service input routingInput optional when prefer least most sticky metric resource load utilization concurrency rate limit".split(
    " ",
  );

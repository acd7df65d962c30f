import { RESOURCE_FIELDS } from "@engine/contract";
import type { Random } from "@engine/simulation/random";

/** A value of an option as code: what stands in the source, and what it does when it runs. */
export type Expression =
  | { readonly kind: "call"; readonly name: string; readonly values: readonly Expression[] }
  | {
      readonly kind: "member";
      readonly of: Expression;
      readonly name: string;
      readonly values: readonly Expression[];
    }
  | { readonly kind: "object"; readonly members: Readonly<Record<string, Expression>> }
  | { readonly kind: "list"; readonly values: readonly Expression[] }
  | { readonly kind: "constant"; readonly value: string | number | boolean };

const call = (name: string, ...values: readonly Expression[]): Expression => ({
  kind: "call",
  name,
  values,
});
const member = (of: Expression, name: string, ...values: readonly Expression[]): Expression => ({
  kind: "member",
  of,
  name,
  values,
});
const constant = (value: string | number | boolean): Expression => ({ kind: "constant", value });

/** Options of a workflow that its source may have. */
export class RandomExpressions {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  affinity(): Expression {
    if (this.#random.chance(0.1)) return this.#labels();
    return call("require", ...this.#some(1, 6, () => this.#affinityTerm()));
  }

  routing(): Expression {
    return call("score", ...this.#some(1, 6, () => this.#scoreTerm()));
  }

  limits(): Expression {
    return { kind: "list", values: this.#some(0, 4, () => this.#limit()) };
  }

  fairness(): Expression {
    const key = this.#ref();
    const members = this.#random.chance(0.5)
      ? { key }
      : { key, weight: constant(1 + this.#random.below(100)) };
    return { kind: "object", members };
  }

  #labels(): Expression {
    const keys = this.#some(0, 4, () => this.#key());
    const members = Object.fromEntries(keys.map((key) => [key, constant(this.#text())]));
    return { kind: "object", members };
  }

  #affinityTerm(): Expression {
    const kind = this.#random.below(4);
    if (kind === 0) return this.#match();
    if (kind === 1) return call("optional", this.#reading());
    if (kind === 2) return this.#service();
    const condition = member(this.#ref(), this.#equality(), this.#constant());
    const then = this.#random.chance(0.3) ? call("optional", this.#reading()) : this.#match();
    return call("when", condition, then);
  }

  #match(): Expression {
    if (this.#random.chance(0.3)) return this.#reading();
    return member(this.#attribute(), this.#equality(), this.#constant());
  }

  /** A match that reads an input. */
  #reading(): Expression {
    if (this.#random.chance(0.3)) return call("service", this.#ref());
    if (this.#random.chance(0.5))
      return member(this.#attributeFor(), this.#equality(), this.#operand());
    return member(this.#attribute(), this.#equality(), this.#ref());
  }

  #service(): Expression {
    const name = this.#pick(["gpu", "inference", "a-1", "x".repeat(32)]);
    return call("service", this.#random.chance(0.5) ? this.#ref() : constant(name));
  }

  #attribute(): Expression {
    return call(this.#pick(["label", "meta"]), constant(this.#key()));
  }

  #attributeFor(): Expression {
    const prefix = this.#pick(["dataset.", "a", "A-b_c.", "engine.service."]);
    return call(this.#pick(["labelFor", "metaFor"]), constant(prefix), this.#ref());
  }

  #scoreTerm(): Expression {
    if (this.#random.chance(0.75)) return this.#plainScore();
    const condition = this.#random.chance(0.5)
      ? member(this.#ref(), this.#equality(), this.#constant())
      : member(this.#watched(), this.#comparison(), constant(this.#number()));
    return call("when", condition, this.#plainScore());
  }

  #plainScore(): Expression {
    const weight = this.#random.chance(0.5) ? [] : [this.#weight()];
    const kind = this.#pick(["prefer", "least", "most", "sticky"]);
    if (kind === "sticky") return call("sticky", ...weight);
    if (kind !== "prefer") return call(kind, this.#ranked(), ...weight);
    return call("prefer", this.#scored(), ...weight);
  }

  #weight(): Expression {
    const weight = constant(this.#pick([1, 0.5, 10, 1e-7, 1e21, 3]));
    return { kind: "object", members: { weight } };
  }

  #scored(): Expression {
    if (this.#random.chance(0.2)) return this.#service();
    const selector = this.#random.chance(0.2) ? this.#attributeFor() : this.#ranked();
    const operator = this.#comparison();
    if (operator === "eq" || operator === "ne") return member(selector, operator, this.#operand());
    const number = this.#random.chance(0.3) ? constant("1.50") : constant(this.#number());
    return member(selector, operator, this.#random.chance(0.3) ? this.#ref() : number);
  }

  #ranked(): Expression {
    return this.#random.chance(0.4)
      ? this.#attribute()
      : this.#random.chance(0.3)
        ? call("resource", constant(this.#pick(RESOURCE_FIELDS)))
        : this.#measured();
  }

  /** What a condition of a policy may be about. */
  #watched(): Expression {
    return this.#random.chance(0.3) ? call("meta", constant(this.#key())) : this.#measured();
  }

  #measured(): Expression {
    const kind = this.#pick(["metric", "load", "utilization"]);
    if (kind !== "metric") return call(kind);
    return call("metric", constant(this.#pick(["queue", "engine.cpu_percent", 'odd "name"', "é"])));
  }

  #limit(): Expression {
    const key = this.#random.chance(0.5) ? { key: this.#ref() } : {};
    const keyed: Expression = { kind: "object", members: key };
    const count = constant(1 + this.#random.below(100_000));
    const kind = this.#pick(["concurrency", "rate", "limit"]);
    if (kind === "limit") return call("limit", constant(this.#pick(["openai", "a.b-c_9"])), keyed);
    if (kind === "rate") {
      return call("rate", count, constant(this.#pick(["1m", 1_000, "1.5s", "1d", 90_001])), keyed);
    }
    const members: Record<string, Expression> = key;
    if (this.#random.chance(0.3)) members["holdWhileWaiting"] = constant(this.#random.chance(0.5));
    if (this.#random.chance(0.3)) members["overflow"] = constant(this.#pick(["queue", "reject"]));
    return call("concurrency", count, { kind: "object", members });
  }

  #operand(): Expression {
    return this.#random.chance(0.5) ? this.#ref() : this.#constant();
  }

  #ref(): Expression {
    const path = this.#pick([
      "a",
      "a.b",
      "tenant.region.code",
      "ü.x y",
      "__proto__.b",
      'q"uote',
      "v1",
    ]);
    return call(this.#pick(["input", "routingInput"]), constant(path));
  }

  #constant(): Expression {
    const kind = this.#random.below(3);
    if (kind === 0) return constant(this.#text());
    return constant(kind === 1 ? this.#number() : this.#random.chance(0.5));
  }

  #number(): number {
    return this.#pick([0, -0, 1, -1, 1.5, 1e21, 1e-7, -3.25, 9_007_199_254_740_991]);
  }

  #text(): string {
    return this.#pick([
      "true",
      "",
      "eu-west",
      "1",
      "a b",
      'say "hi"',
      "\u2028\n\\`$ {x}",
      "😀",
      "\ud800",
    ]);
  }

  #key(): string {
    return this.#pick([
      "region",
      "a",
      "9",
      "gpu.model",
      "A-b_c.9",
      "engine.service.gpu",
      "x".repeat(64),
    ]);
  }

  #equality(): "eq" | "ne" {
    return this.#pick(["eq", "ne"] as const);
  }

  #comparison(): string {
    return this.#pick(["eq", "ne", "lt", "lte", "gt", "gte"]);
  }

  #some<Item>(least: number, most: number, make: () => Item): Item[] {
    return Array.from({ length: least + this.#random.below(most - least + 1) }, make);
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#random.below(items.length)] as Item;
  }
}

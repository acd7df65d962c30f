import type { TemplateElement } from "oxc-parser";
import type { Place } from "../modules/source-module.ts";
import { Unread } from "./unread.ts";

const MAX_TEXT = 100_000;

/** What an operator makes of values that are known: bounds are often written `10 * 1024`. */
export function operation(operator: string, values: readonly unknown[], at: Place): unknown {
  const gap = values.find((value) => value instanceof Unread);
  if (gap) return gap;
  const [left, right] = values;
  if (values.length === 1) return unary(operator, left, at);
  if (operator === "+" && (typeof left === "string" || typeof right === "string")) {
    return isPrimitive(left) && isPrimitive(right)
      ? short(`${left}${right}`, at)
      : new Unread(at, "adds something that is no text or number");
  }
  if (typeof left !== "number" || typeof right !== "number") {
    return new Unread(at, `computes with ${operator}`);
  }
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "**":
      return left ** right;
    default:
      return new Unread(at, `computes with ${operator}`);
  }
}

/** A template whose parts are known. */
export function textOf(
  quasis: readonly TemplateElement[],
  parts: readonly unknown[],
  at: Place,
): unknown {
  let text = quasis[0]?.value.cooked ?? "";
  for (const [index, part] of parts.entries()) {
    if (part instanceof Unread) return part;
    if (!isPrimitive(part)) return new Unread(at, "has a part that is no text or number");
    const longer = short(`${text}${part}${quasis[index + 1]?.value.cooked ?? ""}`, at);
    if (longer instanceof Unread) return longer;
    text = longer;
  }
  return text;
}

function unary(operator: string, value: unknown, at: Place): unknown {
  if (operator === "void") return undefined;
  if (operator === "!") return !value;
  if (operator === "-" && typeof value === "bigint") return -value;
  if (typeof value === "number" && operator === "-") return -value;
  if (typeof value === "number" && operator === "+") return value;
  return new Unread(at, `computes with ${operator}`);
}

function short(text: string, at: Place): string | Unread {
  return text.length <= MAX_TEXT ? text : new Unread(at, "makes a very long text");
}

function isPrimitive(value: unknown): value is string | number | bigint | boolean | null {
  return value === null || /^(?:string|number|bigint|boolean)$/.test(typeof value);
}

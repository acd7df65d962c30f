import type { Node } from "oxc-parser";
import type { AnyFunction } from "../modules/functions.ts";
import type { Place, SourceModule } from "../modules/source-module.ts";

/** Something of a package that is not read itself; `keys` lead to it from the package's exports. */
export class PackageValue {
  readonly source: string;
  readonly keys: readonly string[];

  constructor(source: string, keys: readonly string[]) {
    this.source = source;
    this.keys = keys;
  }

  member(key: string): PackageValue {
    return new PackageValue(this.source, [...this.keys, key]);
  }
}

/** All exports of a file sent. */
export class ModuleValue {
  readonly module: SourceModule;

  constructor(module: SourceModule) {
    this.module = module;
  }
}

/** A function of the author's, which is never called. */
export class FunctionValue {
  readonly place: Place;
  /** What it returns, when that is all it does. */
  readonly returned: Node | undefined;

  constructor(module: SourceModule, node: AnyFunction) {
    this.place = { module, node };
    this.returned = node.params.length === 0 ? returnedBy(node) : undefined;
  }
}

function returnedBy({ body }: AnyFunction): Node | undefined {
  if (body?.type !== "BlockStatement") return body ?? undefined;
  const [statement, ...more] = body.body;
  if (statement?.type !== "ReturnStatement" || more.length > 0) return undefined;
  return statement.argument ?? undefined;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === PLAIN;
}

const PLAIN = Object.prototype;

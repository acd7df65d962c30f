import type { Node, TSInterfaceDeclaration, TSTypeAliasDeclaration } from "oxc-parser";
import { isLocalSpecifier } from "../modules/local-path.ts";
import { type SourceGraph, sentModule } from "../modules/source-graph.ts";
import { importedName, moduleExportName, type SourceModule } from "../modules/source-module.ts";

export type TypeDeclaration = TSTypeAliasDeclaration | TSInterfaceDeclaration;

/** What a name in a type stands for. */
export type NamedType =
  /** One declaration, or several interfaces that add up. */
  | { kind: "declared"; module: SourceModule; nodes: readonly TypeDeclaration[] }
  | { kind: "module"; module: SourceModule }
  | { kind: "package"; source: string; keys: readonly string[] }
  /** A type parameter, class, enum or a name of a file that was not sent. */
  | { kind: "unknown"; reason: string };

type Imported = { kind: "import"; source: string; name: string };
type Found = { kind: "type"; node: TypeDeclaration } | Imported | { kind: "other" };

/** Finds the declarations of types, which the index of values knows nothing of. */
export class TypeNames {
  readonly #graph: SourceGraph;
  readonly #blocks = new WeakMap<Node, ReadonlyMap<string, readonly Found[]>>();
  readonly #exports = new WeakMap<SourceModule, TypeExports>();

  constructor(graph: SourceGraph) {
    this.#graph = graph;
  }

  /** Undefined for a name that no file declares, such as `Array`. */
  find(module: SourceModule, from: Node, name: string): NamedType | undefined {
    for (let node: Node | undefined = from; node; node = module.parents.get(node)) {
      this.#graph.spend(1);
      if (declaresParameter(node, name)) return { kind: "unknown", reason: "is a type parameter" };
      const found = isBlock(node) ? this.#block(node).get(name) : undefined;
      if (found) return this.#follow(module, name, found);
    }
    return undefined;
  }

  /** What a file exports under a name, `export * from` included. */
  exported(
    module: SourceModule,
    name: string,
    seen: Set<SourceModule> = new Set(),
  ): NamedType | undefined {
    this.#graph.spend(1);
    if (seen.has(module)) return undefined;
    seen.add(module);
    const { named, stars } = this.#exportsOf(module);
    const found = named.get(name);
    if (found?.kind === "import") return this.#imported(module, found, seen);
    if (found) return this.find(module, module.parsed.program, found.name);
    for (const source of stars) {
      const next = sentModule(this.#graph, module, source);
      const type = next && this.exported(next, name, seen);
      if (type) return type;
    }
    return undefined;
  }

  #exportsOf(module: SourceModule): TypeExports {
    const known = this.#exports.get(module) ?? typeExports(module);
    this.#exports.set(module, known);
    return known;
  }

  #follow(module: SourceModule, name: string, found: readonly Found[]): NamedType {
    const [first, ...more] = found;
    if (first?.kind === "import") return this.#imported(module, first) ?? notSent(name);
    const nodes = found.flatMap((each) => (each.kind === "type" ? [each.node] : []));
    const isMerged = nodes.every(({ type }) => type === "TSInterfaceDeclaration");
    if (nodes.length < found.length || (more.length > 0 && !isMerged)) {
      return { kind: "unknown", reason: `uses ${name}, which is a class or an enum` };
    }
    return { kind: "declared", module, nodes };
  }

  #imported(
    module: SourceModule,
    { source, name }: { readonly source: string; readonly name: string },
    seen?: Set<SourceModule>,
  ): NamedType | undefined {
    if (!isLocalSpecifier(source)) {
      return { kind: "package", source, keys: name === "*" ? [] : [name] };
    }
    const next = sentModule(this.#graph, module, source);
    if (!next) return { kind: "unknown", reason: `uses ${name} of ${source}, which was not sent` };
    return name === "*" ? { kind: "module", module: next } : this.exported(next, name, seen);
  }

  #block(node: Block): ReadonlyMap<string, readonly Found[]> {
    const known = this.#blocks.get(node);
    if (known) return known;
    const names = new Map<string, Found[]>();
    const add = (name: string | undefined, found: Found) => {
      if (name !== undefined) names.set(name, [...(names.get(name) ?? []), found]);
    };
    for (const statement of node.body) {
      if (statement.type === "ImportDeclaration") {
        const { value: source } = statement.source;
        for (const specifier of statement.specifiers) {
          add(specifier.local.name, { kind: "import", source, name: importedName(specifier) });
        }
        continue;
      }
      const isExport =
        statement.type === "ExportNamedDeclaration" ||
        statement.type === "ExportDefaultDeclaration";
      const declaration = isExport ? statement.declaration : statement;
      const isType =
        declaration?.type === "TSTypeAliasDeclaration" ||
        declaration?.type === "TSInterfaceDeclaration";
      add(
        declaredName(declaration),
        isType ? { kind: "type", node: declaration } : { kind: "other" },
      );
    }
    this.#blocks.set(node, names);
    return names;
  }
}

type TypeExport = Imported | { kind: "own"; name: string };

interface TypeExports {
  readonly named: ReadonlyMap<string, TypeExport>;
  /** The files of `export * from`. */
  readonly stars: readonly string[];
}

/** The names under which a file may export types; of two the first counts. */
function typeExports({ parsed }: SourceModule): TypeExports {
  const named = new Map<string, TypeExport>();
  const stars: string[] = [];
  const add = (name: string, own: string, source?: string) => {
    const found: TypeExport =
      source === undefined ? { kind: "own", name: own } : { kind: "import", source, name: own };
    if (!named.has(name)) named.set(name, found);
  };
  for (const statement of parsed.program.body) {
    if (statement.type === "ExportNamedDeclaration") {
      for (const { exported, local } of statement.specifiers) {
        add(moduleExportName(exported), moduleExportName(local), statement.source?.value);
      }
      const name = declaredName(statement.declaration);
      if (name !== undefined) add(name, name);
    }
    if (statement.type === "ExportDefaultDeclaration") {
      const { declaration } = statement;
      const own = declaration.type === "Identifier" ? declaration.name : declaredName(declaration);
      add("default", own ?? "");
    }
    if (statement.type !== "ExportAllDeclaration") continue;
    if (statement.exported === null) stars.push(statement.source.value);
    else add(moduleExportName(statement.exported), "*", statement.source.value);
  }
  return { named, stars };
}

type Block = Node & { type: "Program" | "BlockStatement" };

function isBlock(node: Node): node is Block {
  return node.type === "Program" || node.type === "BlockStatement";
}

function notSent(name: string): NamedType {
  return { kind: "unknown", reason: `uses ${name}, which is declared in no file sent` };
}

/** Of statements that declare a type under a name. */
function declaredName(node: Node | null | undefined): string | undefined {
  switch (node?.type) {
    case "TSTypeAliasDeclaration":
    case "TSInterfaceDeclaration":
    case "TSEnumDeclaration":
      return node.id.name;
    case "ClassDeclaration":
      return node.id?.name;
    default:
      return undefined;
  }
}

function declaresParameter(node: Node, name: string): boolean {
  if (!("typeParameters" in node) || node.typeParameters === null) return false;
  return node.typeParameters?.params.some((each) => each.name.name === name) ?? false;
}

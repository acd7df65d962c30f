import type { Node } from "oxc-parser";
import { patternNames } from "./binding.ts";
import { moduleExportName, type SourceModule } from "./source-module.ts";

/** What one file exports under a name. */
type ModuleExport =
  /** An identifier or declaration of this file, or an expression exported as default. */
  | { kind: "own"; node: Node }
  /** A name of another file, `*` for all of it. */
  | { kind: "from"; source: string; imported: string; node: Node };

export interface ModuleExports {
  readonly named: ReadonlyMap<string, ModuleExport>;
  /** The files of `export * from`. */
  readonly stars: readonly string[];
}

export function moduleExports({ parsed }: SourceModule): ModuleExports {
  const named = new Map<string, ModuleExport>();
  const stars: string[] = [];
  for (const statement of parsed.program.body) {
    if (statement.type === "ExportAllDeclaration" && statement.exportKind !== "type") {
      const source = statement.source.value;
      if (statement.exported === null) stars.push(source);
      else {
        const name = moduleExportName(statement.exported);
        named.set(name, { kind: "from", source, imported: "*", node: statement });
      }
    }
    if (statement.type === "ExportDefaultDeclaration") {
      named.set("default", { kind: "own", node: statement.declaration });
    }
    if (statement.type !== "ExportNamedDeclaration" || statement.exportKind === "type") continue;
    for (const specifier of statement.specifiers) {
      if (specifier.exportKind === "type") continue;
      const exported = moduleExportName(specifier.exported);
      const { local } = specifier;
      if (statement.source === null) named.set(exported, { kind: "own", node: local });
      else {
        const { value: source } = statement.source;
        const imported = moduleExportName(local);
        named.set(exported, { kind: "from", source, imported, node: local });
      }
    }
    for (const [name, node] of declaredNames(statement.declaration)) {
      named.set(name, { kind: "own", node });
    }
  }
  return { named, stars };
}

function declaredNames(declaration: Node | null): [string, Node][] {
  if (declaration?.type === "VariableDeclaration") {
    return declaration.declarations
      .flatMap(({ id }) => patternNames(id))
      .flatMap(({ id }) => (id.type === "Identifier" ? [[id.name, id] as [string, Node]] : []));
  }
  if (declaration?.type === "FunctionDeclaration" && declaration.id) {
    return [[declaration.id.name, declaration]];
  }
  if (declaration?.type === "ClassDeclaration" && declaration.id) {
    return [[declaration.id.name, declaration.id]];
  }
  if (declaration?.type === "TSEnumDeclaration") return [[declaration.id.name, declaration.id]];
  return [];
}

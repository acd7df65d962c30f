import type { NameCollision, ResolvedService, ServiceRecord, ServiceTools } from "@engine/contract";
import { counted } from "./counted.ts";
import type { Screen } from "./paint.ts";
import { lines, table } from "./table.ts";

/** One line for each service, with how much it chooses. */
export function serviceList(items: readonly ServiceRecord[], { paint }: Screen): string {
  const width = Math.max(0, ...items.map(({ name }) => name.length));
  return lines(
    items.map(({ name, namespaces, workflows, exclusions, mcp_enabled }) => {
      const parts = [
        counted(namespaces, "namespace"),
        counted(workflows, "workflow"),
        counted(exclusions, "exclusion"),
        ...(mcp_enabled ? ["mcp"] : []),
      ];
      return `${paint("strong", name)}${" ".repeat(width - name.length)}   ${parts.join(", ")}`;
    }),
  );
}

/** What a service chooses. */
export function serviceView(service: ServiceRecord, { paint }: Screen): string {
  const { name, description, mcp_enabled, namespaces, workflows, exclusions } = service;
  const mcp = mcp_enabled ? `on; its tools and their address: engine service tools ${name}` : "off";
  return [
    lines([
      paint("strong", name),
      ...(description === null ? [] : [`  ${description}`]),
      `  ${paint("muted", "MCP")}   ${mcp}`,
    ]),
    section("Namespaces:", namespaces),
    section("Workflows:", workflows),
    section("Exclusions:", exclusions),
  ].join("");
}

/** The same with what it offers now, and what keeps it from offering more (SCLI-2). */
export function resolvedView(service: ResolvedService, screen: Screen): string {
  const { endpoints, collisions, unmatched, name } = service;
  const offered = endpoints.map(({ name: endpoint, ref, version, can_run }) => {
    const barred = can_run ? "" : `   ${screen.paint("muted", "(you may not run it)")}`;
    return `/${endpoint} → ${ref} (v${version})${barred}`;
  });
  const title = `Resolved endpoints (${endpoints.length}):`;
  return [
    serviceView(service, screen),
    lines([title, ...offered.map((line) => `  ${line}`)]),
    ...collisions.map((collision) => collided(name, collision, screen)),
    ...(["namespaces", "workflows", "exclusions"] as const).map((list) =>
      section(`Nothing matches these ${list}:`, unmatched[list]),
    ),
  ].join("");
}

/** The tools of a service, with where clients of MCP connect. */
export function toolsView(offered: ServiceTools, screen: Screen): string {
  const { service, connection_url, tools, collisions } = offered;
  const { paint } = screen;
  const rows = tools.map(({ name, kind, ref }) => [name, kind, ref]);
  const none = `No tools: it offers no workflow that you may run; see why with: engine service show ${service}`;
  return [
    lines([paint("strong", service), `  ${paint("muted", "MCP")}   ${connection_url}`]),
    rows.length === 0 ? lines([none]) : table(["TOOL", "KIND", "WORKFLOW"], rows, paint),
    ...collisions.map((collision) => collided(service, collision, screen)),
  ].join("");
}

function section(title: string, entries: readonly string[]): string {
  return entries.length === 0 ? "" : lines([title, ...entries.map((entry) => `  ${entry}`)]);
}

function collided(service: string, { name, refs }: NameCollision, { paint }: Screen): string {
  const [kept = "", ...others] = refs;
  return lines([
    `${paint("needs_you", "Collision:")} /${name} is ${refs.join(" and ")}; each request for it is refused`,
    `  to keep ${kept}: engine service exclude ${service} ${others.join(" ")}`,
  ]);
}

const FENCE = /^```ts source="([^"#]+)#([\w-]+)"\n[\s\S]*?^```$/gm;

/**
 * A page with every fence that names a source filled from it: the region of that name, without the
 * indentation it has there.
 *
 * @param read The text of a file, by its path relative to the page.
 */
export function syncSnippets(page: string, read: (path: string) => string): string {
  return page.replace(FENCE, (_, path: string, name: string) => {
    return `\`\`\`ts source="${path}#${name}"\n${regionOf(read(path), path, name)}\`\`\``;
  });
}

function regionOf(source: string, path: string, name: string): string {
  const begin = new RegExp(`^[ \\t]*//#region ${name}$`, "m").exec(source);
  if (!begin) throw new Error(`${path} has no line "//#region ${name}"`);
  const rest = source.slice(begin.index + begin[0].length + 1);
  const end = /^[ \t]*\/\/#endregion/m.exec(rest);
  if (!end) throw new Error(`${path} does not end its region ${name} with "//#endregion"`);
  return outdented(rest.slice(0, end.index));
}

function outdented(code: string): string {
  const lines = code.split("\n");
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join("\n");
}

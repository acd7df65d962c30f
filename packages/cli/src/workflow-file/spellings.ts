/** The files an import by path may mean, as bundlers look for them. */
export function spellings(specifier: string): string[] {
  return [
    specifier,
    ...(/\.m?js$/.test(specifier) ? [specifier.replace(/js$/, "ts")] : []),
    `${specifier}.ts`,
    `${specifier}.js`,
    `${specifier}/index.ts`,
  ];
}

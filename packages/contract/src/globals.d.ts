// The only things this package needs of the world outside ECMAScript. Packages that load the Node
// or DOM library see theirs instead.
interface URL {
  readonly href: string;
}
declare var URL: { prototype: URL; new (url: string): URL };

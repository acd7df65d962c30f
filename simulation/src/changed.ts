/** The same, but for some methods. */
export function changed<Whole extends object>(whole: Whole, methods: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

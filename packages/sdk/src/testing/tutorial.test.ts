/** EXE-6: the tests that docs/testing.md shows, which stand outside this project like a user's. */
const tests = new URL("../../test/tutorial/checkout.test.ts", import.meta.url);
await import(tests.href);

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const FAKE_BODY = import.meta.resolve("../testing/fake-body.ts");
const PROGRAM = `
import { FakeBody } from ${JSON.stringify(FAKE_BODY)};
const body = new FakeBody();
const { Now, Instant } = Temporal;
const reads = {
  instant: () => Now.instant().toString(),
  zonedDateTimeISO: () => Now.zonedDateTimeISO("Asia/Tokyo").toString(),
  plainDateISO: () => Now.plainDateISO("Asia/Tokyo").toString(),
  plainDateTimeISO: () => Now.plainDateTimeISO("UTC").toString(),
  plainTimeISO: () => Now.plainTimeISO().toString(),
};
const real = (read) => Math.abs(Instant.from(read()).epochMilliseconds - Date.now()) < 60_000;
const seen = Object.fromEntries(Object.entries(reads).map(([key, read]) => [key, body.inBody(read)]));
console.log(JSON.stringify({
  seen,
  inTask: body.inTask(() => real(reads.instant)),
  outside: real(reads.instant),
}));
`;

test("EXE-31 Temporal.Now in a body is the time of the newest event, elsewhere the real one", async () => {
  const args = ["--harmony-temporal", "--conditions=@engine/source", "--input-type=module"];
  const env = { PATH: process.env["PATH"], TZ: "America/New_York" };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...args, "--eval", PROGRAM], { env });
  expect(JSON.parse(stdout)).toEqual({
    seen: {
      instant: "2001-09-09T01:46:40Z",
      zonedDateTimeISO: "2001-09-09T10:46:40+09:00[Asia/Tokyo]",
      plainDateISO: "2001-09-09",
      plainDateTimeISO: "2001-09-09T01:46:40",
      plainTimeISO: "21:46:40",
    },
    inTask: true,
    outside: true,
  });
});

// The other process of the echo ceiling: answers every request with its own body; given the path of
// a database, after one durable commit of one step.
import { createServer } from "node:http";
import { BareTables } from "./bare-tables.ts";

const [file] = process.argv.slice(2);
const tables = file === undefined ? undefined : await BareTables.open(file, 1);

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    tables?.takeStep();
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
// Ends with whoever started it, however that one ended.
process.stdin.on("end", () => process.exit());
process.stdin.resume();

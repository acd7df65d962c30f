// So many workers without work, in a process of their own: what they cost is not that of the load.
// Arguments: the server's address, how many. It ends with a message once one of them is lost.
import { RawWorkers } from "./raw-workers.ts";

const CHECK_MS = 1_000;

const [url = "", count = ""] = process.argv.slice(2);
const workers = new RawWorkers(url);
await workers.connect(Number(count));
process.stdout.write(`idle ${count} end\n`);
setInterval(() => workers.gateConnected(), CHECK_MS);

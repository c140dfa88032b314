// Runs a server in several processes that share a port, as Node servers are deployed. Writes the address to the standard
// output when all of them listen, and ends when the standard input is closed.

import cluster from "node:cluster";
import { readFileSync } from "node:fs";

const [, , name, file] = process.argv;
/** The configuration that the benchmark wrote. */
const configuration = JSON.parse(readFileSync(file, "utf8"));

if (cluster.isPrimary) {
  const waiting = new Set();
  for (let count = 0; count < configuration.processes; count += 1) {
    waiting.add(cluster.fork().id);
  }
  cluster.on("listening", (worker, { port }) => {
    waiting.delete(worker.id);
    if (waiting.size === 0) {
      console.log(`address 127.0.0.1:${port}`);
    }
  });
  cluster.on("exit", (worker, code) => {
    console.error(`a process of ${name} ended with ${code}`);
    process.exit(1);
  });
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
} else {
  const { serve } = await import(`./${name}.js`);
  await serve(configuration);
}

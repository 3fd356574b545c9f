// Runs the scripts that come on standard input with just-bash, over files in
// memory, and prints what each run took in milliseconds.
import { readFileSync } from "node:fs";
import { Bash, InMemoryFs } from "just-bash";

const task = JSON.parse(readFileSync(0, "utf8"));
const version = JSON.parse(readFileSync("node_modules/just-bash/package.json", "utf8")).version;
const initial = {};
for (const f of task.Files) initial["/work/" + f.Path] = f.Text;
const fs = new InMemoryFs(initial);
const limits = { maxLoopIterations: 1e9, maxCommandCount: 1e9 };
const result = { Version: version, Times: [], Outputs: [] };
for (const scripts of task.Scripts) {
  const times = [];
  let out = "";
  for (const [n, script] of scripts.entries()) {
    const began = performance.now();
    const bash = new Bash({ fs, cwd: "/work", executionLimits: limits });
    const r = await bash.exec(script);
    const took = performance.now() - began;
    if (r.exitCode !== 0) throw new Error(`${script}: exit ${r.exitCode}: ${r.stderr}`);
    out = r.stdout;
    if (n > 0) times.push(took);
  }
  result.Times.push(times);
  result.Outputs.push(out);
}
console.log(JSON.stringify(result));

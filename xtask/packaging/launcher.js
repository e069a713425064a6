#!/usr/bin/env node
// Starts the program of this system's own package, which npm installed beside this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

// npm installs the package for the C library of this system; both are tried where Node cannot tell.
function names() {
  const name = `@convoke/${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  const header = process.report?.getReport?.().header ?? {};
  return header.glibcVersionRuntime ? [name, `${name}-musl`] : [`${name}-musl`, name];
}

function program() {
  for (const name of names()) {
    try {
      return path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", "convoke");
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return undefined;
}

const found = program();
if (!found) {
  const missing = names()[0];
  console.error(`error: cannot find the package \`${missing}\` with the program for this system`);
  console.error(`hint: npm install ${missing}; \`--omit=optional\` leaves it out`);
  process.exit(3);
}

// A terminal sends Ctrl-C to both processes; the program must not get it twice, because the second
// one ends it immediately.
const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of signals) {
  const isSentToBoth = isAtTerminal && (signal === "SIGINT" || signal === "SIGQUIT");
  process.on(signal, () => isSentToBoth || child.kill(signal));
}

// After the handlers are there: a signal must not end this process and leave the program behind.
const child = spawn(found, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`error: cannot start \`${found}\`: ${error.message}`);
  process.exit(3);
});

child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  // Ends as the program ended, so that a shell sees the same.
  for (const name of signals) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  // A signal that Node does not end at.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000);
});

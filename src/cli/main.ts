#!/usr/bin/env node
/** The command `moniker`: parses the command line and runs a command. `program.ts` lists the commands. */
import process from 'node:process';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`Moniker requires Node.js 22.18 or newer; this is ${process.versions.node}. See https://nodejs.org/en/download`);
  process.exit(1);
}

// Loaded after the check: an older version cannot load the modules.
try {
  const { runProgram } = await import('./program.ts');
  await runProgram(process.argv.slice(2));
} catch (error) {
  // `runProgram` throws nothing.
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error(`error: A package of Moniker is missing (${/'([^']+)'/.exec(message)?.[1]}). Run \`npm install\` in its folder.`);
  process.exit(1);
}

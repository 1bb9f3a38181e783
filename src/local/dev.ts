/**
 * `npm run dev`: `wrangler dev` with reload over the same code, settings file, keys and state as `npm start`. For
 * working on the code; its proxy is far slower than `npm start`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quietWrangler, wranglerScript } from './bundle.ts';
import { lockDataDir } from './data-lock.ts';
import { projectRoot, readEnvironment } from './environment.ts';
import { runScript, StartFailure } from './failure.ts';
import { makeDataDir, readKeys } from './keys.ts';
import { findOllama } from './ollama.ts';
import { claimPort, loopback } from './port.ts';
import { waitUntilHealthy } from './api-client.ts';
import { workerVariables } from './variables.ts';
import { welcome } from './welcome.ts';

/** wrangler bundles first, on a machine that may be busy. */
const healthTimeoutMs = 60_000;
const variablesFile = join(projectRoot, '.dev.vars');
const marker = '# Written by `npm run dev`; changes here are lost. Set the environment instead.';

await runScript(async () => {
  const local = readEnvironment(process.env);
  const port = await claimPort(local.port);
  makeDataDir(local.dataDir);
  const unlock = lockDataDir(local.dataDir);
  try {
    const keys = readKeys(local.dataDir, process.env);
    const url = `http://${loopback}:${port}`;
    writeVariables(workerVariables(local, keys, url, await findOllama(process.env.OLLAMA_HOST)));
    const args = ['dev', '--ip', loopback, '--port', String(port), '--persist-to', join(local.dataDir, 'state')];
    const child = spawn(process.execPath, [wranglerScript, ...args, '--show-interactive-dev-session=false'], {
      cwd: projectRoot,
      env: { ...process.env, ...quietWrangler },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    let ended = false;
    const end = new Promise<number | null>((resolve) => {
      child.once('close', (code) => {
        ended = true;
        resolve(code);
      });
    });
    let stopping = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        stopping = true;
        child.kill('SIGTERM');
      });
    }
    try {
      await waitUntilHealthy(url, healthTimeoutMs, () => ended || stopping);
      await welcome(url, keys.rootKey, local);
    } catch (error) {
      child.kill('SIGTERM');
      if (!stopping) throw error;
    }
    const code = await end;
    if (!stopping && code !== 0) throw new StartFailure(`wrangler dev ended with code ${code}.`);
  } finally {
    unlock();
  }
});

/** wrangler reads secrets of a local run from here. A file that someone wrote by hand is not touched. */
function writeVariables(variables: Record<string, string>): void {
  if (existsSync(variablesFile) && !readFileSync(variablesFile, 'utf8').startsWith(marker)) {
    throw new StartFailure(`${variablesFile} was not written by \`npm run dev\`. Move it away; its settings belong into the environment.`);
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  writeFileSync(variablesFile, `${marker}\n${lines.join('\n')}\n`, { mode: 0o600 });
}

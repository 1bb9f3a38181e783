/** `npm start` ends as a whole: npm runs the script in a shell, which does not pass on signals. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDataDir, removeDataDir, root } from '../e2e/service.ts';
import { waitUntil } from '../wait-for.ts';

it.each(['SIGTERM', 'SIGKILL'] as const)('ends the service when npm receives %s', async (signal) => {
  const dataDir = makeDataDir();
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PORT: '0', MONIKER_DATA_DIR: dataDir, OLLAMA_HOST: '127.0.0.1:9' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  await waitUntil(() => output.includes('Ctrl-C stops it.'));
  const url = /Moniker is ready at (\S+)/.exec(output)?.[1] ?? '';
  const launcher = Number.parseInt(readFileSync(join(dataDir, 'lock'), 'utf8'), 10);
  npm.kill(signal);
  if (signal === 'SIGKILL') process.kill(parentOf(launcher), 'SIGKILL'); // The shell.
  await waitUntil(() => !exists(launcher));
  await expect(fetch(url)).rejects.toThrow();
  removeDataDir(dataDir);
});

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // No such process.
    return false;
  }
}

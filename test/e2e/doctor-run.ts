/** Runs `moniker doctor` in broken states that are made for real, and reads its line, what it says to do, and its exit code. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { root } from './service.ts';

export type DoctorRun = { code: number | null; printed: string };
export type DoctorOptions = {
  environment?: Record<string, string>;
  within?: readonly string[];
  parameters?: readonly string[];
  cwd?: string;
};

const elsewhere = mkdtempSync(join(tmpdir(), 'moniker-cwd-'));
/** Run after each test, the last one first. */
export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

/** Not `spawnSync`: upstreams of this process have to respond meanwhile. */
export async function runDoctor(
  dataDir: string,
  { environment = {}, within = [], parameters = [], cwd = elsewhere }: DoctorOptions = {},
): Promise<DoctorRun> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:MONIKER_|OTEL_|npm_|PORT$|.*_API_KEY$)/.test(name)),
  );
  const [command = '', ...rest] = [...within, process.execPath, join(root, 'src/cli/main.ts'), 'doctor', '--data', dataDir, ...parameters];
  const child = spawn(command, rest, { cwd, env: { ...inherited, PORT: '0', ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  return { code, printed };
}

/** The finding, and that it says what to do. */
export function expectFinding(
  { code, printed }: DoctorRun,
  exitCode: number,
  status: 'warning' | 'failure',
  check: string,
  message: RegExp,
): void {
  const lines = printed.split('\n');
  const at = lines.findIndex((line) => line.startsWith(status) && line.slice(8).startsWith(check.padEnd(12)) && message.test(line));
  expect(at, `${status} ${check} ${message}\n${printed}`).toBeGreaterThanOrEqual(0);
  expect(lines[at + 1], printed).toMatch(/^ {21}\S.*\w{3}/);
  expect(code, printed).toBe(exitCode);
  expect(printed).not.toMatch(/^ {4}at /m);
}

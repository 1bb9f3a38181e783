/** Runs the program of a client to its end, without a terminal, in an environment that has nothing of the user's. */
import { spawn } from 'node:child_process';

export type ProgramRun = { out: string; err: string; code: number | null };

/** `code` is null if it was ended after two minutes. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<ProgramRun> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (bytes) => {
    printed.out += String(bytes);
  });
  child.stderr.on('data', (bytes) => {
    printed.err += String(bytes);
  });
  const code = await new Promise<number | null>((done, reject) => {
    child.on('error', reject);
    child.on('close', done);
  });
  return { ...printed, code };
}

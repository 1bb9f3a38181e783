/** Runs a command of `moniker` in this process, as if in a folder, a terminal and an environment of its own. */
import { Readable } from 'node:stream';
import { vi } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { reportFailure } from '../../src/cli/failure.ts';

export type CommandRun = { error: unknown; stdout: string; stderr: string };

type Surroundings = {
  environment?: Record<string, string | undefined>;
  /** The current folder. */
  folder?: string;
  stdin?: string;
  /** The streams are a terminal. */
  isTerminal?: boolean;
};

/** Ends in `process.exit` are an error. `reported`: the error is printed, as `moniker` does. Restore all mocks after the test. */
export async function runCommand(
  parameters: readonly string[],
  { environment = {}, folder, stdin = '', isTerminal = false }: Surroundings = {},
) {
  for (const name of ['MONIKER_URL', 'MONIKER_KEY', 'MONIKER_ROOT_KEY', 'MONIKER_PROJECT', 'MONIKER_DATA_DIR', 'MONIKER_WORKSPACE'])
    vi.stubEnv(name, environment[name]);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  if (folder !== undefined) vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const run: CommandRun = { error: null, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      run[name] += String(text);
      return true;
    });
    Object.assign(process[name], { isTTY: isTerminal });
  }
  vi.spyOn(console, 'log').mockImplementation((text) => void process.stdout.write(`${text}\n`));
  vi.spyOn(console, 'error').mockImplementation((text) => void process.stderr.write(`${text}\n`));
  const input = Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: isTerminal });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
  vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('the command has ended');
  });
  try {
    await createProgram().parseAsync(parameters, { from: 'user' });
  } catch (error) {
    run.error = error;
    reportFailure(error);
  } finally {
    Object.assign(process.stdout, { isTTY: false });
    Object.assign(process.stderr, { isTTY: false });
    process.exitCode = undefined;
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
  return run;
}

/**
 * Runs the official conformance suite (`@modelcontextprotocol/conformance`) as its users do, and reads its results: the checks of each
 * scenario. A scenario fails with any of its checks; one with only informational checks has `applies` false.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { root } from '../e2e/service.ts';

/** Only prereleases have the scenarios for authorization servers, all of the authorization of clients, and those of a revision (`revision`: of servers, with `--requirements`). */
const packages = {
  server: '@modelcontextprotocol/conformance',
  client: 'mcp-conformance-alpha',
  authorization: 'mcp-conformance-alpha',
  revision: 'mcp-conformance-alpha',
} as const;
const programOf = (side: Side): string => join(root, 'node_modules', packages[side], 'dist/index.js');
export const reportsDir = join(root, 'node_modules/.cache/test-reports');
/** For a whole suite; its slowest scenario waits 15 s. */
const suiteTimeoutMs = 170_000;

type Check = { id: string; status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'; errorMessage?: string };
export type Side = 'server' | 'client' | 'authorization' | 'revision';
/** By scenario. */
export type SuiteResult = ReadonlyMap<string, readonly Check[]>;

export function listScenarios(side: Side): string[] {
  const printed = execFileSync(process.execPath, [programOf(side), 'list', `--${side}`], { encoding: 'utf8' });
  return [...printed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}

/** The expected failures of `expected-failures.yml`; each line has its reason next to it. */
export function expectedFailures(side: Side): ReadonlySet<string> {
  const path = join(import.meta.dirname, 'expected-failures.yml');
  const read = load(readFileSync(path, 'utf8')) as Record<Side, string[] | null>;
  return new Set(read[side] ?? []);
}

/** `args`: after `conformance server` and so on. `onOutput`: receives all that the suite has printed, each time it prints more. */
export async function runSuite(side: Side, args: readonly string[], onOutput?: (printed: string) => void): Promise<SuiteResult> {
  const outputDir = mkdtempSync(join(tmpdir(), 'moniker-conformance-'));
  try {
    await runProgram([programOf(side), side === 'revision' ? 'server' : side, ...args, '-o', outputDir], onOutput);
    return readResults(side, outputDir);
  } finally {
    rmSync(outputDir, { recursive: true, force: true });
  }
}

/** Its exit code only says that something failed; the checks have the details. */
async function runProgram(args: readonly string[], onOutput?: (printed: string) => void): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', onOutput === undefined ? 'ignore' : 'pipe', 'ignore'] });
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    onOutput?.(printed);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), suiteTimeoutMs);
  await new Promise((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  clearTimeout(timer);
}

/** `[server-|authorization-server-]<scenario>-<time>/checks.json`; a scenario with a slash in its name is a subfolder. */
function readResults(side: Side, outputDir: string): SuiteResult {
  const files = readdirSync(outputDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('checks.json'));
  return new Map(
    files.map((path) => {
      const folder = path.slice(0, -'/checks.json'.length).replace(/-\d{4}-\d\d-\d\dT.*$/, '');
      const scenario = side === 'client' ? folder : folder.slice(`${side === 'authorization' ? 'authorization-' : ''}server-`.length);
      return [scenario, JSON.parse(readFileSync(join(outputDir, path), 'utf8')) as Check[]];
    }),
  );
}

/** The suite's failure messages; empty: passed. A scenario without checks did not run. */
export function failuresOf(result: SuiteResult, scenario: string): string[] {
  const checks = result.get(scenario);
  if (checks === undefined) return ['it did not run to its end'];
  return checks.filter(({ status }) => status === 'FAILURE').map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'failed'}`);
}

export const figuresPrefix = 'conformance-';
export type Figures = {
  name: string;
  scenarios: { passed: number; failed: string[] };
  checks: { passed: number; failed: number; warnings: number };
};

/** Stored next to the test reports, for `.ci/run` to print (`figures.ts`). */
export function keepFigures(name: string, result: SuiteResult): void {
  const checks = [...result.values()].flat();
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  const failed = [...result.keys()].filter((scenario) => failuresOf(result, scenario).length > 0);
  const figures: Figures = {
    name,
    scenarios: { passed: result.size - failed.length, failed },
    checks: { passed: count('SUCCESS'), failed: count('FAILURE'), warnings: count('WARNING') },
  };
  mkdirSync(reportsDir, { recursive: true });
  writeFileSync(join(reportsDir, `${figuresPrefix}${name.replaceAll(/\W+/g, '-')}.json`), JSON.stringify(figures));
}

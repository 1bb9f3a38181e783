/**
 * Runs the test projects and prints one line over all of them. Usage:
 *
 *     node test/run.ts                              every test file, large products in samples (`npm test`)
 *     node test/run.ts fast                         the tests that need neither the Workers runtime nor a service (`npm run test:fast`)
 *     node test/run.ts all                          everything (`npm run test:all`)
 *     node test/run.ts node|workers|e2e|crash|console …     one project; file names may follow
 *     node test/run.ts summary [default] [all]      the failures of the last such runs again, and their counts added up
 *
 * It prints a mark for each file (`F` if it failed), then the failures. What tests count and measure is printed with
 * `MONIKER_STATISTICS=1`; anything else that a test prints is shown with its name.
 *
 * `test/selection.ts` says what `fast`, `default` and `all` cover.
 */
import { spawn } from 'node:child_process';
import { installClients } from './install-clients.ts';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Report } from './reporter.ts';
import type { Selection } from './selection.ts';

const root = resolve(import.meta.dirname, '..');
const reportsDir = join(root, 'node_modules/.cache/test-reports');

/** Projects in one lane run one after the other, the lanes side by side. With two cores, they end at about the same time. */
const lanes = [['node'], ['e2e', 'crash', 'console'], ['workers']] as const;
const projects = lanes.flat();
type Project = (typeof projects)[number];

/**
 * What the Workers runtime and its bundler print themselves, also when all is well: tests end objects and break tables on purpose, and
 * the runtime reports each as an uncaught exception although the test gets it. Shown only if the project fails.
 */
const diagnostics =
  /^(uncaught exception; |exception = |stack: |console warning; |NOSENTRY | {4}at |Sourcemap for ".*" points to missing source files$)/;
const maxDiagnostics = 100;
const maxNames = 50;
const marksPerLine = 100;
let marksOnLine = 0;

type Counts = Pick<Report, 'passed' | 'failed' | 'skipped'>;

const [what = 'default', ...rest] = process.argv.slice(2);
if (what === 'summary') {
  const runs = (['default', 'all'] as const).filter((run) => rest.length === 0 || rest.includes(run));
  for (const run of runs) printFaults(run);
  for (const run of runs) printFaultNames(run);
  for (const run of runs) printCounts(run === 'default' ? 'npm test: ' : 'npm run test:all: ', count(run, projects));
  finish(sum(runs.map((run) => count(run, projects))));
} else if (what === 'default' || what === 'all') {
  await runProjects(what, lanes, []);
} else if (what === 'fast') {
  await runProjects('fast', [['node']], []);
} else {
  const project = projects.find((name) => name === what);
  if (project === undefined) {
    console.error(`There is no test project "${what}". Use default, fast, all, ${projects.join(', ')} or summary.`);
    process.exit(2);
  }
  await runProjects('default', [[project]], rest);
}

async function runProjects(run: Selection, chosen: readonly (readonly Project[])[], files: readonly string[]): Promise<void> {
  installClients();
  const started = performance.now();
  rmSync(join(reportsDir, run), { recursive: true, force: true });
  mkdirSync(join(reportsDir, run), { recursive: true });
  const failed: Project[] = [];
  await Promise.all(
    chosen.map(async (lane) => {
      for (const project of lane) {
        if (!(await runProject(run, project, files))) failed.push(project);
      }
    }),
  );
  endLine();
  printFaults(run);
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(`\n${seconds(started)}${run === 'all' ? '' : '; a sample: npm run test:all runs everything'}`);
  finish(count(run, chosen.flat()), failed.length > 0);
}

/** Resolves to whether the project passed. */
async function runProject(run: Selection, project: Project, files: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...['--config', `test/vitest.${project}.ts`, '--reporter', join(root, 'test/reporter.ts')],
      ...(files.length > 0 ? ['--passWithNoTests', ...files] : []),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        MONIKER_TESTS: run,
        // Tests start many Node processes that load the same modules.
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        MONIKER_REPORT: reportPath(run, project),
      },
    },
  );
  const held: string[] = [];
  const [, stdout, stderr, marks] = child.stdio as unknown as [null, Readable, Readable, Readable];
  for (const stream of [stdout, stderr])
    createInterface({ input: stream }).on('line', (line) => {
      if (diagnostics.test(line)) held.push(line);
      else if (line !== '') printLine(`[${project}] ${line}`);
    });
  marks.setEncoding('utf8').on('data', printMarks);
  return await new Promise((resolveRun, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (status !== 0) for (const line of held.slice(-maxDiagnostics)) printLine(`[${project}] ${line}`);
      const { passed, failed, skipped } = count(run, [project]);
      printLine(`${project.padEnd(8)} ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds(started)}`);
      resolveRun(status === 0);
    });
  });
}

/** Marks of all projects are in one row. */
function printMarks(marks: string): void {
  for (const mark of marks) {
    process.stdout.write(mark);
    marksOnLine += 1;
    if (marksOnLine === marksPerLine) endLine();
  }
}

function printLine(line: string): void {
  endLine();
  console.log(line);
}

function endLine(): void {
  if (marksOnLine > 0) process.stdout.write('\n');
  marksOnLine = 0;
}

function seconds(started: number): string {
  return `${Math.round((performance.now() - started) / 1000)} s`;
}

function count(run: Selection, chosen: readonly Project[]): Counts {
  // A project without a report did not run to its end.
  return sum(chosen.map((project) => readReport(run, project) ?? { passed: 0, failed: 1, skipped: 0 }));
}

function sum(all: readonly Counts[]): Counts {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of all) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}

/** The failures, and what tests printed, behind all marks: a CI log keeps the last lines. */
function printFaults(run: Selection): void {
  for (const project of projects) {
    const { faults = [], printed = [] } = readReport(run, project) ?? {};
    for (const text of printed) console.log(`\n[${project}] printed by ${text}`);
    for (const fault of faults) console.log(`\n[${project}] ${fault}`);
  }
}

/** The failures by name only, just before the counts. */
function printFaultNames(run: Selection): void {
  const names = projects.flatMap((project) => (readReport(run, project)?.faults ?? []).map((fault) => fault.split('\n', 1)[0]));
  for (const name of names.slice(0, maxNames)) console.log(`${run}: ${name}`);
  if (names.length > maxNames) console.log(`${run}: … and ${names.length - maxNames} more`);
}

function printCounts(label: string, { passed, failed, skipped }: Counts): void {
  console.log(`${label}${passed} passed, ${failed} failed, ${skipped} skipped`);
}

function finish(counts: Counts, hasFailed = false): void {
  printCounts('', counts);
  // A run without a single test is not a success either.
  process.exitCode = counts.failed > 0 || hasFailed || counts.passed === 0 ? 1 : 0;
}

function readReport(run: Selection, project: Project): Report | null {
  const path = reportPath(run, project);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Report) : null;
}

function reportPath(run: Selection, project: Project): string {
  return join(reportsDir, run, `${project}.json`);
}

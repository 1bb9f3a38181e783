/**
 * Runs the test projects and prints one line over all of them. Usage:
 *
 *     node test/run.ts                              every test file, large products in samples (`npm test`)
 *     node test/run.ts fast                         the tests that need neither the Workers runtime nor a service (`npm run test:fast`)
 *     node test/run.ts all                          everything (`npm run test:all`)
 *     node test/run.ts node|workers|e2e|crash|console …     one project; file names may follow
 *     node test/run.ts summary [default] [all]      the failures of the last such runs again, and their counts added up
 *
 * `test/selection.ts` says what `fast`, `default` and `all` cover.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Selection } from './selection.ts';

const root = resolve(import.meta.dirname, '..');
const reportsDir = join(root, 'node_modules/.cache/test-reports');

/** Projects in one lane run one after the other, the lanes side by side. With two cores, they end at about the same time. */
const lanes = [['node'], ['e2e', 'crash', 'console'], ['workers']] as const;
const projects = lanes.flat();
type Project = (typeof projects)[number];

type Counts = { passed: number; failed: number; skipped: number };
/** The fields of vitest's JSON report that are used here. */
type Report = {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
};

const [what = 'default', ...rest] = process.argv.slice(2);
if (what === 'summary') {
  const runs = (['default', 'all'] as const).filter((run) => rest.length === 0 || rest.includes(run));
  for (const run of runs) printFaults(run);
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
  printFaults(run);
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(`\n${Math.round((performance.now() - started) / 1000)} s`);
  finish(count(run, chosen.flat()), failed.length > 0);
}

/** Resolves to whether the project passed. Its output is printed line by line, with its name in front. */
async function runProject(run: Selection, project: Project, files: readonly string[]): Promise<boolean> {
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...['--config', `test/vitest.${project}.ts`],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath(run, project)}`],
      `--reporter=${join(root, 'test/faults-reporter.ts')}`,
      ...(files.length > 0 ? ['--passWithNoTests', ...files] : []),
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        MONIKER_TESTS: run,
        // Tests start many Node processes that load the same modules.
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        MONIKER_FAULTS: faultsPath(run, project),
        ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
      },
    },
  );
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => console.log(`[${project}] ${line}`));
  return await new Promise((resolveRun, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolveRun(status === 0));
  });
}

function count(run: Selection, chosen: readonly Project[]): Counts {
  return sum(
    chosen.map((project) => {
      const path = reportPath(run, project);
      // A project without a report did not run to its end.
      return existsSync(path) ? countReport(JSON.parse(readFileSync(path, 'utf8')) as Report) : { passed: 0, failed: 1, skipped: 0 };
    }),
  );
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

function countReport(report: Report): Counts {
  // A file that does not load has no tests that could fail: it counts as one failure.
  const brokenFiles = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = report.numFailedTests + brokenFiles;
  return {
    passed: report.numPassedTests,
    // Unhandled errors fail a run without failing a test.
    failed: failed === 0 && !report.success ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Repeats the failures at the end: above them are thousands of lines, and a CI log keeps the last ones. */
function printFaults(run: Selection): void {
  for (const project of projects) {
    if (!existsSync(faultsPath(run, project))) continue;
    for (const fault of JSON.parse(readFileSync(faultsPath(run, project), 'utf8')) as string[]) console.log(`\n[${project}] ${fault}`);
  }
}

function printCounts(label: string, { passed, failed, skipped }: Counts): void {
  console.log(`${label}${passed} passed, ${failed} failed, ${skipped} skipped`);
}

function finish(counts: Counts, hasFailed = false): void {
  printCounts('', counts);
  // A run without a single test is not a success either.
  process.exitCode = counts.failed > 0 || hasFailed || counts.passed === 0 ? 1 : 0;
}

function faultsPath(run: Selection, project: Project): string {
  return join(reportsDir, run, `${project}.faults.json`);
}

function reportPath(run: Selection, project: Project): string {
  return join(reportsDir, run, `${project}.json`);
}

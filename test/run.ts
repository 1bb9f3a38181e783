/**
 * Runs the test projects one after the other (side by side they would only take turns on a small machine) and prints one
 * line over all of them. `node test/run.ts [all|fast|node|workers|e2e|crash|summary] [file …]`; `fast` is the pure tests without those
 * that go through whole corpora again and again (`*.long.test.ts`); `summary` prints the last run's line again.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const reportsDir = join(root, 'node_modules/.cache/test-reports');
const projects = ['node', 'workers', 'e2e', 'crash'];
/** Of the simulation (`test/simulation/`), where not all that matters is time; without a number it runs a small share. */
const simulatedRuns = '12000';

type Counts = { passed: number; failed: number; skipped: number };
/** What is used of vitest's JSON report. */
type Report = {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
};

const [which = 'all', ...files] = process.argv.slice(2);
if (which === 'summary') {
  finish(summarize(projects));
} else {
  const chosen = which === 'all' ? projects : which === 'fast' ? ['node'] : projects.filter((project) => project === which);
  if (chosen.length === 0) {
    console.error(`No test project "${which}": all, fast, ${projects.join(', ')} or summary.`);
    process.exit(2);
  }
  rmSync(reportsDir, { recursive: true, force: true });
  mkdirSync(reportsDir, { recursive: true });
  const failed = chosen.filter((project) => !runProject(project, files));
  finish(summarize(chosen), failed);
}

function runProject(project: string, files: readonly string[]): boolean {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = [
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath(project)}`],
    `--reporter=${join(root, 'test/faults-reporter.ts')}`,
  ];
  const args = [
    vitest,
    'run',
    '--config',
    `test/vitest.${project}.ts`,
    ...reporters,
    ...(files.length > 0 ? ['--passWithNoTests', ...files] : []),
  ];
  const settings = which === 'fast' ? { MONIKER_TESTS: 'fast' } : { MONIKER_SIM_RUNS: simulatedRuns };
  const { status, error } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...settings, ...process.env, MONIKER_FAULTS: faultsPath(project) },
  });
  if (error) throw error;
  return status === 0;
}

function summarize(chosen: readonly string[]): Counts {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const project of chosen) {
    const path = reportPath(project);
    // A project that left no report did not run to its end.
    const counts = existsSync(path) ? countReport(JSON.parse(readFileSync(path, 'utf8')) as Report) : { passed: 0, failed: 1, skipped: 0 };
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  return total;
}

function countReport(report: Report): Counts {
  // A file that does not load has no tests to fail: it counts as one.
  const brokenFiles = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = report.numFailedTests + brokenFiles;
  return {
    passed: report.numPassedTests,
    // Unhandled errors fail a run without failing a test.
    failed: failed === 0 && !report.success ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function finish(counts: Counts, failedProjects: readonly string[] = []): void {
  for (const project of projects) {
    if (!existsSync(faultsPath(project))) continue;
    for (const fault of JSON.parse(readFileSync(faultsPath(project), 'utf8')) as string[]) console.log(`\n[${project}] ${fault}`);
  }
  if (failedProjects.length > 0) console.log(`\nFailed: ${failedProjects.join(', ')}`);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  // No test at all is no success either.
  process.exitCode = counts.failed > 0 || failedProjects.length > 0 || counts.passed === 0 ? 1 : 0;
}

function faultsPath(project: string): string {
  return join(reportsDir, `${project}.faults.json`);
}

function reportPath(project: string): string {
  return join(reportsDir, `${project}.json`);
}

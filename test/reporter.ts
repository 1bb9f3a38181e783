/**
 * Reports a test run to `test/run.ts`: a mark for each file while it runs, and at the end the file that `MONIKER_REPORT` names, with
 * the counts, the failures, and what tests printed. Tests that failed first and passed when they were repeated are among the failures
 * that are shown: they are faults to look for.
 */
import { writeFileSync, writeSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

export type Report = {
  passed: number;
  failed: number;
  skipped: number;
  faults: string[];
  /** What tests wrote to the console: nobody expects it, unless statistics were asked for. */
  printed: string[];
  /** How long the tests of each file ran, in milliseconds. */
  files: Record<string, number>;
};

type Frame = { method: string; file: string; line: number; column: number };
type Fault = { message: string; name?: string; diff?: string; stacks?: Frame[]; cause?: Fault };
type ConsoleText = { content: string; taskId?: string; type: 'stdout' | 'stderr' };

const root = resolve(import.meta.dirname, '..');
/** The marks go to their own stream, which `test/run.ts` opens. */
const marks = 3;
const maxFrames = 4;
const maxDiffCharacters = 4000;

export default class RunReporter implements Reporter {
  readonly #path = process.env.MONIKER_REPORT;
  readonly #printed = new Map<string, string>();
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onUserConsoleLog({ content, taskId, type }: ConsoleText): void {
    const task = taskId === undefined ? undefined : this.#vitest?.state.getReportedEntityById(taskId);
    if (this.#vitest?.config.onConsoleLog?.(content, type, task) === false) return;
    const place = task === undefined ? 'outside of any test' : task.type === 'module' ? task.relativeModuleId : placeOf(task.module, task);
    this.#printed.set(place, (this.#printed.get(place) ?? '') + content);
  }

  onTestModuleEnd(module: TestModule): void {
    if (this.#path !== undefined) writeSync(marks, module.state() === 'failed' ? 'F' : '.');
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Fault[]): void {
    if (this.#path === undefined) return;
    const tests = modules.map((module) => ({ module, tests: [...module.children.allTests()] }));
    const count = (state: string) => tests.flatMap((file) => file.tests).filter((test) => test.result().state === state).length;
    // A file that does not load has no tests that could fail: it counts as one failure.
    const broken = tests.filter((file) => file.module.state() === 'failed' && file.tests.length === 0).length;
    const failed = count('failed') + broken;
    // Errors outside of tests fail a run without failing a test.
    const isFailed = unhandled.length > 0 || modules.some((module) => module.errors().length > 0);
    const report: Report = {
      passed: count('passed'),
      failed: failed === 0 && isFailed ? 1 : failed,
      skipped: count('skipped') + count('pending'),
      faults: [
        ...tests.flatMap((file) => faultsOf(file.module, file.tests)),
        ...unhandled.map((error) => `outside of any test\n${text(error)}`),
      ],
      printed: [...this.#printed].map(([place, content]) => `${place}\n${indent(stripVTControlCharacters(content).trimEnd())}`),
      files: Object.fromEntries(modules.map((module) => [module.relativeModuleId, Math.round(module.diagnostic().duration)])),
    };
    writeFileSync(this.#path, JSON.stringify(report));
  }
}

function faultsOf(module: TestModule, tests: readonly TestCase[]): string[] {
  const failed = tests.filter((test) => test.result().state === 'failed');
  const repeated = tests.filter((test) => test.result().state === 'passed' && test.diagnostic()?.flaky);
  return [
    ...module.errors().map((error) => `${module.relativeModuleId}\n${text(error)}`),
    ...failed.map((test) => describeTest(module, test)),
    ...repeated.map((test) => `passed only when repeated: ${describeTest(module, test)}`),
  ];
}

function describeTest(module: TestModule, test: TestCase): string {
  return `${placeOf(module, test)}\n${(test.result().errors ?? []).map(text).join('\n')}`;
}

function placeOf(module: TestModule, { fullName }: { fullName: string }): string {
  return `${module.relativeModuleId} > ${fullName}`;
}

/** The message, the difference of what was expected, and where it happened in this project. */
function text({ name, message, diff, stacks, cause }: Fault): string {
  const own = (stacks ?? []).filter(({ file }) => file.startsWith(root) && !file.includes('/node_modules/'));
  const parts = [
    `${name === undefined ? '' : `${name}: `}${message.slice(0, 2000)}`,
    ...(diff === undefined ? [] : [shortened(diff)]),
    ...own.slice(0, maxFrames).map(({ method, file, line, column }) => `at ${method} ${relative(root, file)}:${line}:${column}`),
    ...(cause === undefined ? [] : [`caused by ${text(cause).trimStart()}`]),
  ];
  return indent(stripVTControlCharacters(parts.join('\n')));
}

/** Both ends of a long text, of a document in one line above all: the failures of a run are read in a log of limited size. */
function shortened(text: string): string {
  return text.length <= maxDiffCharacters
    ? text
    : `${text.slice(0, maxDiffCharacters / 2)}\n… ${text.length - maxDiffCharacters} characters …\n${text.slice(-maxDiffCharacters / 2)}`;
}

function indent(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, '    ');
}

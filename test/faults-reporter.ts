/**
 * Writes the failures of a test run to the file that `MONIKER_FAULTS` names, so that `test/run.ts` can repeat them at the end
 * of its output. Tests that failed first and passed when they were repeated are in it as well: they are faults to look for.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

type Fault = { message: string; stack?: string };

export default class FaultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Fault[]): void {
    const path = process.env.MONIKER_FAULTS;
    if (path === undefined) return;
    const faults = modules.flatMap((module) => [
      ...module.errors().map((error) => `${module.moduleId}: ${text(error)}`),
      ...[...module.children.allTests('failed')].map((test) => describeTest(module, test)),
    ]);
    const repeated = modules.flatMap((module) =>
      [...module.children.allTests('passed')]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `passed only when repeated: ${describeTest(module, test)}`),
    );
    writeFileSync(path, JSON.stringify([...faults, ...repeated, ...unhandled.map((error) => `outside of any test: ${text(error)}`)]));
  }
}

function describeTest(module: TestModule, test: TestCase): string {
  return `${module.moduleId} > ${test.fullName}: ${(test.result().errors ?? []).map(text).join('\n')}`;
}

function text({ message, stack }: Fault): string {
  return [message.slice(0, 2000), ...(stack ?? '').split('\n').slice(0, 8)].join('\n    ');
}

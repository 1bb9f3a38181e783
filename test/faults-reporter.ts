/**
 * Writes the failures of a test run to the file that `MONIKER_FAULTS` names, so that `test/run.ts` can repeat them at the end
 * of its output.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

type Fault = { message: string; stack?: string };

export default class FaultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Fault[]): void {
    const path = process.env.MONIKER_FAULTS;
    if (path === undefined) return;
    const faults = modules.flatMap((module) => [
      ...module.errors().map((error) => `${module.moduleId}: ${text(error)}`),
      ...[...module.children.allTests('failed')].map(
        (test) => `${module.moduleId} > ${test.fullName}: ${(test.result().errors ?? []).map(text).join('\n')}`,
      ),
    ]);
    writeFileSync(path, JSON.stringify([...faults, ...unhandled.map((error) => `outside of any test: ${text(error)}`)]));
  }
}

function text({ message, stack }: Fault): string {
  return [message.slice(0, 2000), ...(stack ?? '').split('\n').slice(0, 8)].join('\n    ');
}

/** Prints the results of the last run of the conformance suite (`run-suite.ts`): `node test/conformance/figures.ts`, after the tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { figuresPrefix, reportsDir, type Figures } from './run-suite.ts';

const files = readdirSync(reportsDir).filter((name) => name.startsWith(figuresPrefix));
const all = files.sort().map((name) => JSON.parse(readFileSync(join(reportsDir, name), 'utf8')) as Figures);
for (const { name, scenarios, checks } of all) {
  const failed = scenarios.failed.length === 0 ? '' : ` (failed: ${scenarios.failed.join(', ')})`;
  console.log(
    `${name}: ${scenarios.passed} of ${scenarios.passed + scenarios.failed.length} scenarios${failed}, ` +
      `${checks.passed} checks passed, ${checks.failed} failed, ${checks.warnings} warnings`,
  );
}
if (all.length === 0) {
  console.error('The conformance suite has not been run.');
  process.exitCode = 1;
}

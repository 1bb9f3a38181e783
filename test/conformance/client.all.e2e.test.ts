/**
 * The client scenarios of the official conformance suite, for the code with which Moniker calls servers (`client.ts`): one process per
 * scenario, run serially, because some of them measure time.
 */
import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectedFailures, failuresOf, keepFigures, listScenarios, runSuite, type SuiteResult } from './run-suite.ts';

const expected = expectedFailures('client');
const results: SuiteResult[] = [];
const folder = mkdtempSync(join(tmpdir(), 'moniker-conformance-client-'));
const program = join(folder, 'client.mjs');

beforeAll(async () => {
  // One bundled file starts much faster than its hundreds of modules.
  const entry = join(import.meta.dirname, 'client.ts');
  await build({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
});
afterAll(() => {
  keepFigures('client', new Map(results.flatMap((result) => [...result])));
  rmSync(folder, { recursive: true, force: true });
});

it.each(listScenarios('client'))('The MCP client passes the scenario %s', async (scenario) => {
  const result = await runSuite('client', ['--command', `${process.execPath} ${program}`, '--scenario', scenario]);
  results.push(result);
  const failures = failuresOf(result, scenario);
  if (expected.has(scenario)) expect(failures).not.toEqual([]);
  else expect(failures).toEqual([]);
});

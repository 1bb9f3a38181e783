/** Builds once what all files of the crash tier run, and prints their matrix at the end. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildModules, ensureBundle } from '../../src/local/build/bundle.ts';
import { writeCrashBuild } from './crash-build.ts';
import { printStatistics } from '../statistics.ts';

/** Folders of the bundles (deployed, plain, and two crash builds), and the folder where the cells write their verdicts. */
export type CrashBundles = { deployed: string; plain: string; first: string; second: string; verdictsDir: string };

declare module 'vitest' {
  export interface ProvidedContext {
    crash: CrashBundles;
  }
}

type Row = { point: string; kill: string; verdict: string };

export default async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'moniker-crash-build-'));
  const within = (name: string): string => join(directory, name);
  const [deployed] = await Promise.all([
    ensureBundle(within('deployed'), () => undefined),
    buildModules(within('plain'), { readable: true }),
  ]);
  // Settings of the worker are next to the deployed bundle and are the same for all builds.
  for (const generation of ['first', 'second']) writeCrashBuild(within('plain'), within(generation), generation, deployed);
  mkdirSync(within('verdicts'));
  project.provide('crash', {
    deployed,
    plain: within('plain'),
    first: within('first'),
    second: within('second'),
    verdictsDir: within('verdicts'),
  });
  return () => {
    printMatrix(within('verdicts'));
    rmSync(directory, { recursive: true, force: true });
  };
}

function printMatrix(verdictsDir: string): void {
  const rows = readdirSync(verdictsDir).flatMap((file) =>
    readFileSync(join(verdictsDir, file), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row),
  );
  if (rows.length === 0) return;
  const width = Math.max(...rows.map(({ point }) => point.length));
  const lines = rows
    .sort((a, b) => a.point.localeCompare(b.point) || a.kill.localeCompare(b.kill))
    .map(({ point, kill, verdict }) => `${point.padEnd(width)} | ${kill.padEnd(7)} | ${verdict}`);
  const held = rows.filter(({ verdict }) => verdict === 'holds').length;
  printStatistics(`\n${'point'.padEnd(width)} | kill    | verdict\n${lines.join('\n')}\n${held} of ${rows.length} hold`);
}

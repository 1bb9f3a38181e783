/** The licenses of the packages that a build contains, as one text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { projectRoot } from '../environment.ts';

type Manifest = { name: string; version: string; license?: string; author?: string | { name?: string } };

export function licensesOf(builds: readonly Metafile[]): string {
  const inputs = builds.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => licenseOf(join(projectRoot, folder)));
  return `Moniker contains code of these packages.\n\n${texts.join('\n')}`;
}

function licenseOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const file = existsSync(folder) ? readdirSync(folder).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry)) : undefined;
  const by = typeof author === 'string' ? author : author?.name;
  const text = file === undefined ? [license, by].filter(Boolean).join(', by ') : readFileSync(join(folder, file), 'utf8').trim();
  return `${'-'.repeat(80)}\n${name} ${version} (${license ?? 'see below'})\n\n${text}\n`;
}

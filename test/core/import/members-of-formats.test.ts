/** Each documented member of a format has the fate that `members-of-formats.ts` says, and no member of a file is lost silently. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportResult } from '../../../src/core/import/draft.ts';
import { readImport } from '../../../src/formats/read-import.ts';
import { type FormatMembers, type Fate, formatMembers as clientMembers } from './members-of-formats.ts';
import { gatewayMembers } from './members-of-gateways.ts';

const formatMembers = [...clientMembers, ...gatewayMembers];

type Node = Record<string, unknown>;

/** Names may contain "/", as folders do: `projects//work/allowedTools`. */
function keysOf(path: string): string[] {
  return path
    .replaceAll('//', '/\0')
    .split('/')
    .map((key) => key.replace('\0', '/'));
}

/** As an import says it. */
function said(path: string): string {
  return keysOf(path).reduce((place, key) => (/^\d+$/.test(key) ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`), '');
}

/** A copy with a value at a path, whose objects are made. */
function withMember(file: object, path: string, value: unknown): object {
  const copy = structuredClone(file);
  const keys = keysOf(path);
  let node = copy as Node;
  for (const key of keys.slice(0, -1)) {
    node[key] ??= {};
    node = node[key] as Node;
  }
  node[keys.at(-1) ?? ''] = value;
  return copy;
}

function read({ format, fileName }: FormatMembers, file: object): ImportResult {
  // As JSON, which YAML includes; TOML has a test of its own.
  return readImport(new TextEncoder().encode(JSON.stringify(file)), { format, fileName: fileName.replace(/toml$/, 'json') });
}

const isAt = (name: string, path: string): boolean => name === path || name.startsWith(`${path}.`) || name.startsWith(`${path}[`);

/** The paths of the objects of a file. */
function objectsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, member]) =>
    objectsIn(member, path === '' ? key.replace(/^\//, '//') : `${path}/${key}`),
  );
  return Array.isArray(value) ? inside : [path, ...inside];
}

/** Objects whose members are names: of servers, headers, projects. */
const maps =
  /^(mcpServers|servers|context_servers|mcp_servers|amp\.mcpServers|mcp|extensions|registry|projects|providers|toolsets)$|mcpServers$|headers$|input_schema/;

describe.each(formatMembers.map((row) => [`${row.format} (${row.fileName})`, row] as const))('%s', (_name, row) => {
  const base = read(row, row.file);

  it('is a file of which everything is taken', () => {
    expect(base.skipped).toEqual([]);
    expect(Object.keys(base.project)).not.toEqual([]);
  });

  it.each(row.members.map(([path, value, fate]) => [path, fate, value] as const))('has the member %s, which is %s', (path, fate, value) => {
    const result = read(row, withMember(row.file, path, value));
    const place = said(path);
    const skipped = result.skipped.filter(({ name }) => isAt(name, place));
    const warned = result.warnings.filter((warning) => isAt(warning.path, place));
    const isSame = JSON.stringify(result.project) === JSON.stringify(base.project);
    expect(result.skipped.filter(({ reason }) => /not known to this import/.test(reason)).filter(({ name }) => name !== place)).toEqual([]);
    if (fate === 'skipped') expect([isSame, skipped.length > 0]).toEqual([true, true]);
    else expect(skipped).toEqual([]);
    if (fate === 'changed') expect(warned).not.toEqual([]);
    if (fate === 'taken') expect(isSame).toBe(false);
    if (fate === 'ignored') expect([isSame, warned]).toEqual([true, []]);
  });

  it.each(objectsIn(row.file).filter((path) => !maps.test(path)))('says that it does not know a member of "%s"', (path) => {
    const place = path === '' ? 'oddMember' : `${path}/oddMember`;
    const { skipped } = read(row, withMember(row.file, place, { odd: 1 }));
    expect(skipped.map(({ name }) => name)).toContain(said(place));
  });
});

it('are listed in docs/import.md with their fates', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/import.md'), 'utf8');
  for (const row of formatMembers) expect(guide).toContain(lineOf(row));
});

function lineOf({ format, fileName, members }: FormatMembers): string {
  const of = (...fates: Fate[]): string => {
    // An entry as a whole, such as an extension, has no member's name.
    const names = members.filter(([path, , fate]) => fates.includes(fate) && shortOf(path) !== '').map(([path]) => shortOf(path));
    return gatewayMembers.some((row) => row.fileName === fileName && row.format === format) ? grouped(names) : listed(names);
  };
  return `| \`${format}\` (\`${fileName}\`) | ${of('taken', 'changed')} | ${of('skipped')} | ${of('ignored')} |`;
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `\`${name}\``).join(', ') || '–';
}

/** Members of an object together: files of gateways have many. */
function grouped(names: readonly string[]): string {
  const parents = Map.groupBy(names, (name) => name.slice(0, Math.max(0, name.lastIndexOf('.'))));
  const parts = [...parents].map(([parent, own]) => {
    const inside = listed(own.map((name) => name.slice(parent === '' ? 0 : parent.length + 1)));
    return parent === '' ? inside : `of \`${parent}\`: ${inside}`;
  });
  return parts.join('; ') || '–';
}

/** Without the names of the servers. */
function shortOf(path: string): string {
  return said(path)
    .replace(
      /^(?:mcpServers|servers|context_servers|mcp_servers|amp\.mcpServers|mcp|extensions|registry)(?:\.(?:local|remote|api|third)|\[\d\])\.?/,
      '',
    )
    .replace(/^projects\.\/work\./, 'projects.*.')
    .replaceAll(/\[\d+\]/g, '[]');
}

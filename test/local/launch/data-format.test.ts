import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimDataFormat, dataFormat } from '../../../src/local/launch/data-format.ts';
import { auditShardMigrations } from '../../../src/objects/audit/audit-shard.ts';
import { catalogMigrations } from '../../../src/objects/catalog/schema.ts';
import { limitMigrations } from '../../../src/objects/limits/limit-counter.ts';
import { mcpSessionMigrations } from '../../../src/objects/mcp-session/schema.ts';
import { sessionMigrations } from '../../../src/objects/session/object/schema.ts';
import { usageMigrations } from '../../../src/objects/usage/usage-shard.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-format-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('writes the format of a new folder, and accepts it again', () => {
  claimDataFormat(folder);
  mkdirSync(join(folder, 'state/v3/do'), { recursive: true });
  claimDataFormat(folder);
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe(`${dataFormat}\n`);
});

it('refuses data of a build before 0.1.0 in one line that says what to do', () => {
  mkdirSync(join(folder, 'state/v3/do'), { recursive: true });
  expect(() => claimDataFormat(folder)).toThrow(/^The data in \S+ is of a build before 0\.1\.0, .*MONIKER_DATA_DIR=…$/);
});

it.each(['999', 'x'])('refuses the format %s of another release, and does not change it', (format) => {
  writeFileSync(join(folder, 'format'), format);
  expect(() => claimDataFormat(folder)).toThrow(/^The data in \S+ was written by a newer release .*$/);
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe(format);
});

it('counts the steps of the schemas', () => {
  const objects = [catalogMigrations, sessionMigrations, mcpSessionMigrations, auditShardMigrations, usageMigrations, limitMigrations];
  expect(dataFormat).toBeGreaterThanOrEqual(objects.reduce((sum, steps) => sum + steps.length - 1, 1));
});

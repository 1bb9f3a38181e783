/** docs/architecture.md names every table of the Durable Objects and every prefix of KV, with what bounds it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mcpSessionMigrations } from '../../src/objects/mcp-session/schema.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { auditLogSchema } from '../../src/objects/shared/audit-log.ts';
import { kvKeys } from '../../src/storage/keys.ts';
import type { PublishedKind } from '../../src/storage/published-values.ts';
import { catalogMigrations } from '../../src/objects/catalog/schema.ts';
import { sumsSchema } from '../../src/objects/usage/daily-sums.ts';
import { requestsSchema } from '../../src/objects/usage/request-rows.ts';
import { schemaSteps } from '../../src/objects/shared/migrate.ts';
import { fakeSql } from '../fakes/sql-storage.ts';

const kinds = Object.keys({
  ...{ agent: true, skill: true, provider: true, secret: true, server: true, offers: true },
  ...{
    providers: true,
    'model-aliases': true,
    rules: true,
    subscriptions: true,
    settings: true,
    'workspace-status': true,
    'retired-keys': true,
    hook: true,
  },
} satisfies Record<PublishedKind, true>);

const page = readFileSync(join(import.meta.dirname, '../../docs/architecture.md'), 'utf8');
const tablesOf = (migrations: readonly string[]): string[] =>
  fakeSql(migrations)
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .toArray()
    .map(({ name }) => name);

it('the growth of every table and KV prefix is documented', () => {
  const names = [
    ...tablesOf(catalogMigrations),
    ...tablesOf(sessionMigrations),
    ...tablesOf(mcpSessionMigrations),
    ...tablesOf(schemaSteps(auditLogSchema)),
    ...tablesOf(schemaSteps(sumsSchema, requestsSchema)),
  ];
  const { published: _published, ...others } = kvKeys;
  const prefixes = [...kinds, ...Object.values(others).map((key) => key('w', 'n').split(':')[0])].map((kind) => `${kind}:`);
  expect(names.length).toBeGreaterThan(40);
  expect([...names, ...prefixes].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

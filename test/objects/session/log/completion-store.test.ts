import { expect, it } from 'vitest';
import { CompletionStore } from '../../../../src/objects/session/log/completion-store.ts';
import { sessionMigrations } from '../../../../src/objects/session/object/schema.ts';
import { fakeSql } from '../../../fakes/sql-storage.ts';
import { maxStoredCompletions } from '../../../../src/objects/session/log/completion-store.ts';

it('stores a limited number of responses for chat clients, the newest ones', () => {
  const sql = fakeSql(sessionMigrations);
  const store = new CompletionStore(sql);
  const add = (n: number): void =>
    store.add({
      id: `c${n}`,
      range: { turn: `t${n}`, after: n, earlier: null },
      model: 'a/b',
      includeUsage: false,
      dialect: 'openai-chat',
      echo: {},
      asked: '',
      createdAt: n,
    });
  for (let n = 1; n <= maxStoredCompletions + 2; n += 1) add(n);
  expect(sql.exec<{ count: number }>('SELECT count(*) AS count FROM completions').one().count).toBe(maxStoredCompletions);
  expect([1, 2, 3].map((n) => store.get(`c${n}`)?.id ?? null)).toEqual([null, null, 'c3']);
  expect(store.last()?.id).toBe(`c${maxStoredCompletions + 2}`);
});

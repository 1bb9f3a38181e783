import { expect, it } from 'vitest';
import { createNodeCatalog } from '../../../fakes/node-catalog.ts';

const count = {
  description: 'Counts.',
  implementation: 'return 1;',
};

it('a workspace has at most 500 shared made tools, and a stored one can still be changed', async () => {
  const catalog = createNodeCatalog({ definitions: [] });
  await catalog.put('made-tool', 'made.first', count);
  const rows = `WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
    INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at)
    SELECT kind, 'made.t' || n, 1, 0, body, 0, 0 FROM documents JOIN numbers WHERE name = 'made.first'`;
  catalog.sql.exec(rows);
  await expect(catalog.put('made-tool', 'made.more', count)).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining('500 shared made tools'),
  });
  expect(await catalog.put('made-tool', 'made.first', { ...count, description: 'Counts again.' })).toMatchObject({ changed: true });
});

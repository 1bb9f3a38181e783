import { expect, it } from 'vitest';
import { createEdgeCatalog } from '../../src/edge/edge-catalog.ts';
import { readServedProject } from '../../src/edge/served-project.ts';

it('A nonce is used once, although the edge has no storage', async () => {
  const project = await readServedProject({}, {});
  const parts = { project, lists: {}, editions: {}, keys: {}, master: {}, now: () => 0 };
  const catalog = createEdgeCatalog(parts as unknown as Parameters<typeof createEdgeCatalog>[0]);
  const use = async (nonce: string) => await catalog.run({} as never, 'consumeNonce', [nonce, 1_000]);
  expect([await use('a'), await use('b'), await use('a')]).toMatchObject([{ value: true }, { value: true }, { value: false }]);
});

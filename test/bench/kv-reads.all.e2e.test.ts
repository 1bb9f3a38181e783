import { expect, it } from 'vitest';
import { countKvReads } from '../../bench/kv-reads.ts';

it('the benchmark of KV reads runs on the built bundle: warm requests read no KV, and nothing uses the Cache API', async () => {
  expect(await countKvReads()).toMatchObject({ warmReads: 0, cacheApi: false });
});

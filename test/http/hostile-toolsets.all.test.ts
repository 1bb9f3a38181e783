/** Every row of the security corpus about names and definitions, over HTTP and the in-memory catalog, with the verdict of the core. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MetadataRow } from '../core/listing-cases.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { createHarness, type Harness } from './harness.ts';
import { checkAliasSet, checkMetadata, checkName, checkPin, createCount, prepareNames, printCount } from './hostile-rows.ts';
import type { AliasSet, NameRow, PinCase, Send } from './hostile-rows.ts';
import { sample } from '../selection.ts';

describeCorpus('security/tool-names.jsonl', (path) => {
  const rows = sample('tool names over HTTP', readJsonLines<NameRow>(path), (_, index) => index % 4 === 0);
  const count = createCount();
  let h: Harness;
  beforeAll(async () => {
    h = createHarness();
    await prepareNames(h.send);
  });
  it.each(rows)('$id has the verdict of the core, as alias, given name, default alias and name of a listed tool', (row) =>
    checkName(h.send, row, count),
  );
  afterAll(() => {
    printCount('tool-names', count);
    expect(count.rows).toBe(rows.length);
    expect(readJsonLines<NameRow>(path)).toHaveLength(110);
  });
});

describeCorpus('security/alias-sets.json', (path) => {
  const count = createCount();
  it.each(readJson<AliasSet[]>(path))('$id has the verdict of the core', async (set) => {
    const [h, off] = [createHarness(), createHarness({ MONIKER_ALIASES: 'off' })];
    // The other workspace has the same results.
    const both: Send = async (...request) => {
      const answer = await h.send(...request);
      if (request[0] === 'PUT') expect((await off.send(...request)).status).toBe(answer.status);
      return answer;
    };
    await checkAliasSet(both, set, count, off.send);
  });
  afterAll(() => {
    printCount('alias-sets', count);
    expect(count.rows).toBe(14);
  });
});

describeCorpus('security/tool-metadata.json', (path) => {
  const { send } = createHarness();
  const count = createCount();
  it.each(readJson<{ cases: MetadataRow[] }>(path).cases)('$id is $expect.action', (row) => checkMetadata(send, row, count));
  afterAll(() => {
    printCount('tool-metadata', count);
    expect(count.rows).toBe(45);
  });
});

describeCorpus('security/tool-pinning.json', (path) => {
  const { send } = createHarness();
  const count = createCount();
  it.each(readJson<{ cases: PinCase[] }>(path).cases)('$id is $expect', (row) => checkPin(send, row, count));
  afterAll(() => {
    printCount('tool-pinning', count);
    expect(count.rows).toBe(15);
  });
});

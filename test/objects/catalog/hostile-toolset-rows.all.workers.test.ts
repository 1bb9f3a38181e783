/**
 * The rows of the security corpus about names and definitions, over HTTP and the real catalog. Only in `npm run test:all`: every run has
 * the same rows with the in-memory catalog (`test/http/hostile-toolsets.all.test.ts`). Skipped without the corpus, which is next to the
 * checkout.
 */
import { describe, expect, it } from 'vitest';
import type { MetadataRow } from '../../core/listing-cases.ts';
import {
  checkAliasSet,
  checkMetadata,
  checkName,
  checkPin,
  clearNames,
  createCount,
  prepareNames,
  printCount,
} from '../../http/hostile-rows.ts';
import type { AliasSet, NameRow, PinCase } from '../../http/hostile-rows.ts';
import { send } from './real-service.ts';
import { isSkipped } from '../../selection.ts';

declare global {
  interface ImportMeta {
    // Vite's glob import; the bundler reads the files, since the Workers runtime has no file system.
    glob<Text>(pattern: string, options: { eager: true; query: string; import: string }): Record<string, Text>;
  }
}

// As text: bundled as a module, `__proto__` in JSON would set a prototype.
const fixtures = import.meta.glob<string>(
  '../../../shared/fixtures/security/{tool-names.jsonl,alias-sets.json,tool-metadata.json,tool-pinning.json}',
  { eager: true, query: '?raw', import: 'default' },
);
const textOf = (name: string): string => Object.entries(fixtures).find(([path]) => path.endsWith(`/${name}`))?.[1] ?? '';
const names = textOf('tool-names.jsonl')
  .split('\n')
  .flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as NameRow]));
const read = <Fixture>(name: string): Fixture => JSON.parse(textOf(name)) as Fixture;

describe.skipIf(isSkipped(names.length === 0, 'corpus security/tool-names.jsonl', '../shared/fixtures is not beside this checkout'))(
  'the rows of the corpus, in the real catalog',
  () => {
    it('keep every hostile name from taking another tool', async () => {
      const count = createCount();
      await prepareNames(send);
      for (const row of names) await checkName(send, row, count);
      await clearNames(send);
      printCount('tool-names', count);
      expect(count.rows).toBe(110);
    });

    it('resolve or refuse every set of aliases', async () => {
      const count = createCount();
      for (const set of read<AliasSet[]>('alias-sets.json')) await checkAliasSet(send, set, count);
      printCount('alias-sets', count);
      expect(count.rows).toBe(14);
    });

    it('hold or clean every hostile definition', async () => {
      const count = createCount();
      for (const row of read<{ cases: MetadataRow[] }>('tool-metadata.json').cases) await checkMetadata(send, row, count);
      printCount('tool-metadata', count);
      expect(count.rows).toBe(45);
    });

    it('hold every definition that changes after it was accepted', async () => {
      const count = createCount();
      for (const row of read<{ cases: PinCase[] }>('tool-pinning.json').cases) await checkPin(send, row, count);
      printCount('tool-pinning', count);
      expect(count.rows).toBe(15);
    });
  },
);

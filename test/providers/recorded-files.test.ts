/** The corpus of recorded replies is whole: as many files of each API as its tests count. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { printStatistics } from '../statistics.ts';
import { recordedFiles } from './recorded.ts';
import type { Recording } from './replies.ts';

describeCorpus('providers', (path) => {
  const recordings = readJson<Recording[]>(join(path, 'index.json'));

  it('has the counted recordings of each API, and no others', () => {
    const counts: Record<string, number> = {};
    for (const { api } of recordings) counts[api] = (counts[api] ?? 0) + 1;
    printStatistics(
      `recorded replies: ${Object.entries(counts)
        .map(([api, count]) => `${count} ${api}`)
        .join(', ')}`,
    );
    expect(counts).toEqual(recordedFiles);
  });

  it('has the file of each recording', () => {
    expect(recordings.filter(({ file }) => !existsSync(join(path, file)))).toEqual([]);
  });
});

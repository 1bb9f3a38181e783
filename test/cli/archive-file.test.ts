import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readArchiveFile } from '../../src/cli/archive-file.ts';
import { chainHash, maxLineBytes, startHash, writeLine } from '../../src/core/backup/archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

const header = {
  ...{ kind: 'header', format: 1, release: '0.1.0', workspace: 'default', createdAt: '2026-01-01T00:00:00.000Z' },
  ...{ masterKey: '0a1b2c3d', auditShards: 8 },
};
const rows = { kind: 'object', object: { kind: 'catalog', id: '' }, schema: 1, first: true, last: true, tables: [] };
const end = { kind: 'end', sessions: 0, newestSession: 0, leftOut: [] };
const mac = 'a'.repeat(64);

/** The lines of an archive with these parts. */
function archive(...parts: unknown[]): string[] {
  let hash = startHash;
  return parts.map((value, number) => {
    const part = JSON.stringify(value);
    hash = chainHash(hash, number, part);
    return writeLine({ number, hash, mac, part });
  });
}

async function read(content: string | Uint8Array, name = 'archive.jsonl') {
  const file = join(folder, name);
  writeFileSync(file, content);
  const lines = readArchiveFile(file);
  for (;;) {
    const next = await lines.next();
    if (next.done) return { parts: next.value.parts, isComplete: next.value.isComplete };
  }
}

describe('a file with an archive', () => {
  const whole = archive(header, rows, end);

  it('is read, also compressed in several members', async () => {
    expect(await read(whole.join(''))).toEqual({ parts: 3, isComplete: true });
    expect(await read(Buffer.concat(whole.map((line) => gzipSync(line))), 'archive.jsonl.gz')).toEqual({ parts: 3, isComplete: true });
  });

  it.each([
    ['a missing end', whole.slice(0, 2).join(''), /ends after 2 parts/],
    ['a cut line', whole.join('').slice(0, -20), /part 2 \(line 3\).*cut off/i],
    ['a missing part', whole[0] + (whole[2] ?? ''), /part 1 \(line 2\).*found part 2/i],
    ['parts in another order', [whole[0], whole[2], whole[1]].join(''), /part 1 /i],
    [
      'a part of another archive',
      [whole[0], archive({ ...header, workspace: 'other' }, rows)[1], whole[2]].join(''),
      /does not match its hash/,
    ],
    ['a changed part', whole.join('').replace('"first":true', '"first":false'), /part 1 .*does not match its hash/i],
    ['something behind the end', whole.join('') + (whole[1] ?? ''), /more lines after its end/],
    ['a newer format', archive({ ...header, format: 2 }, end).join(''), /format 2.*newer one/],
    ['a second header', archive(header, header, end).join(''), /only the first part is a header/],
    ['no header', archive(rows, end).join(''), /only the first part is a header/],
    ['an unknown object', archive(header, { ...rows, object: { kind: 'files', id: '../../etc' } }).join(''), /part 1 /i],
    ['a path as an id', archive(header, { ...rows, object: { kind: 'session', id: '../../etc/passwd' } }).join(''), /part 1 /i],
    [
      'a table with a name that is none',
      archive(header, { ...rows, tables: [{ name: 'a"; DROP', columns: ['a'], rows: [] }] }).join(''),
      /part 1 /i,
    ],
    ['another file', '{"servers": {}}\n', /not a part of a backup/],
    ['an empty file', '', /ends after 0 parts/],
    ['a line without an end', 'x'.repeat(maxLineBytes + 10), /too long|not a part/],
  ])('is refused with %s', async (_what, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  it('is read with bounded memory when it is a compression bomb', async () => {
    await expect(read(gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x')), 'bomb.jsonl.gz')).rejects.toThrow(/too long|not a part/);
  });

  it('is refused if it is damaged inside the compression, or missing', async () => {
    const damaged = gzipSync(whole.join(''));
    damaged.fill(7, 40, 60);
    await expect(read(damaged, 'damaged.jsonl.gz')).rejects.toThrow(/cannot be read/);
    await expect(readArchiveFile(join(folder, 'none')).next()).rejects.toThrow(/cannot be read/);
  });
});

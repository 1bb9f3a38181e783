/**
 * Paths as attackers and models write them: each is resolved inside the session's files or rejected with an error result, never decoded,
 * and never throws.
 */
import { recordOf } from '../../src/core/json/wire-value.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInside, resolvePath } from '../../src/core/text/path.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { toolBench } from './run-tool.ts';
import { printStatistics } from '../statistics.ts';

describeCorpus('security/path-payloads.json', (path) => {
  const payloads = Object.values(readJson<{ sources: Record<string, string[]> }>(path).sources).flat();

  it('are used literally as session files, or rejected by every tool', async () => {
    const { files, run } = toolBench();
    let refused = 0;
    for (const payload of payloads) {
      const written = await run('builtin.write_file', { path: payload, content: payload });
      const resolved = resolvePath(payload);
      if (written.isError) {
        refused += 1;
        expect(['tool_error', 'invalid_arguments'], payload).toContain(written.code);
        for (const name of ['read_file', 'list_directory', 'delete_file']) await run(`builtin.${name}`, { path: payload });
        continue;
      }
      if (!resolved.ok) throw new Error(resolved.reason);
      expect(recordOf(written.structuredContent).path).toBe(resolved.path);
      expect((await run('builtin.read_file', { path: payload })).text, payload).toBe(payload);
      expect((await run('builtin.edit_file', { path: payload, edits: [{ oldText: payload, newText: 'x' }] })).isError, payload).toBe(
        payload === '',
      );
      // Deleted again, since one payload is a directory of another.
      expect((await run('builtin.delete_file', { path: payload })).isError, payload).toBe(false);
      for (const { name } of files.list('/workspace')) files.remove(`/workspace/${name}`, { recursive: true });
    }
    printStatistics(`path-payloads: ${payloads.length} through the tools, ${refused} refused, none outside`);
    expect(payloads.length).toBe(670);
  });
});

type Row = { id: string; class: string; cwd: string; root: string; input: string; expect: string; resolved?: string };

describeCorpus('security/path-cases.jsonl', (path) => {
  it('are written to where they resolve, or not at all', async () => {
    const rows = readJsonLines<Row>(path);
    expect(rows).toHaveLength(102);
    const counts = { inside: 0, outside: 0, refused: 0 };
    for (const row of rows.filter(({ class: kind, cwd }) => kind !== 'symlink' && cwd === '/workspace')) {
      const { files, run } = toolBench();
      const { isError, structuredContent } = await run('builtin.write_file', { path: row.input, content: 'x' });
      if (isError) {
        counts.refused += 1;
        expect(
          files.paths().filter((place) => files.stat(place)?.kind === 'file'),
          row.id,
        ).toEqual([]);
        continue;
      }
      expect(row.expect, row.id).not.toBe('reject');
      expect(recordOf(structuredContent).path, row.id).toBe(row.resolved);
      expect(isInside(String(recordOf(structuredContent).path), row.root), row.id).toBe(row.expect === 'inside');
      counts[row.expect === 'inside' ? 'inside' : 'outside'] += 1;
    }
    printStatistics(
      `path-cases: ${rows.length} rows, through the tools as expected: ${JSON.stringify(counts)}, the rest of links or other directories`,
    );
  });

  it('of links lead nowhere, since links cannot be created', async () => {
    for (const { id, input } of readJsonLines<Row>(path).filter((row) => row.class === 'symlink')) {
      const { files, run } = toolBench();
      await run('builtin.bash', { command: `ln -s / link; ln -s /etc/passwd ${JSON.stringify(input)}` });
      expect(files.paths(), id).toEqual(['/', '/tmp', '/workspace']);
    }
  });
});

describe('any bytes', () => {
  it('are read back unchanged, as base64 and in parts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat(300), async (bytes, cut) => {
        const { files, run } = toolBench();
        const base64 = Buffer.from(bytes).toString('base64');
        expect((await run('builtin.write_file', { path: 'f', content: base64, encoding: 'base64' })).isError).toBe(false);
        expect([...files.read('/workspace/f')]).toEqual([...bytes]);
        expect((await run('builtin.read_file', { path: 'f', encoding: 'base64' })).text).toBe(base64);
        const head = await run('builtin.read_file', { path: 'f', encoding: 'base64', limit: cut + 1 });
        const tail = await run('builtin.read_file', { path: 'f', encoding: 'base64', offset: cut + 1 });
        expect(Buffer.concat([Buffer.from(head.text, 'base64'), Buffer.from(tail.text, 'base64')])).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('that are text are read back in lines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'é', '\n', '\r\n', '')), fc.integer({ min: 1, max: 5 }), async (parts, size) => {
        const { run } = toolBench();
        const text = parts.join('');
        await run('builtin.write_file', { path: 'f', content: text });
        let read = '';
        for (let offset: number | null = 1; offset !== null; ) {
          const { content } = await run('builtin.read_file', { path: 'f', offset, limit: size });
          const [shown, note] = content.map((block) => (block.type === 'text' ? block.text : ''));
          read += shown;
          offset = note === undefined ? null : Number(/offset (\d+)/.exec(note)?.[1]);
        }
        expect(read).toBe(text);
      }),
    );
  });
});

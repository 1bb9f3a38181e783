/** A session's files over HTTP: as bytes, under the paths of the tools, within limits, and with conditional writes. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { isInside, resolvePath } from '../../src/core/text/path.ts';
import type { FileSystem } from '../../src/ports/file-system.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';
import { maxFileBodyBytes } from '../../src/http/routes/sessions/session-files.ts';
import { maxFileNameBytes } from '../../src/core/text/path.ts';
import { printStatistics } from '../statistics.ts';

let h: Harness;
let id: string;

beforeEach(async () => {
  h = createHarness();
  id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }))).id;
});

const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  h.send(method, `/v1/sessions/${id}/files${path === '' ? '' : `/${path}`}`, body, headers);

function files(): FileSystem {
  const session = h.sessions.all.get(id);
  if (session === undefined) throw new Error('no session');
  return session.files;
}

function stored(): string[] {
  return files()
    .paths()
    .filter((path) => files().stat(path)?.kind === 'file');
}

describe('a listing', () => {
  const names = async (path: string): Promise<string[]> =>
    (await bodyOf(await send('GET', path))).entries.map(({ name }: { name: string }) => name);

  it('has the entries of a directory, recursively on request', async () => {
    for (const path of ['a.txt', 'b/c.txt', 'b/d/e.txt', '/tmp/f.txt']) await send('PUT', path, 'x');
    expect(await names('')).toEqual(['a.txt', 'b']);
    expect(await names('workspace?recursive=true')).toEqual(['a.txt', 'b', 'b/c.txt', 'b/d', 'b/d/e.txt']);
    expect(await names('b?recursive=true')).toEqual(['c.txt', 'd', 'd/e.txt']);
    expect(await names('b?recursive=false')).toEqual(['c.txt', 'd']);
    expect(await names('/?recursive=true')).toContain('tmp/f.txt');
    const root = await bodyOf(await h.send('GET', `/v1/sessions/${id}/files?recursive=true`));
    expect(root).toMatchObject({ path: '/workspace', truncated: false, usage: { files: 6, bytes: 4 } });
    expect(await problemIn(await send('GET', 'b?recursive=yes'))).toBe('422 invalid_request at recursive');
  });

  it('reports truncation', async () => {
    for (let index = 0; index <= limits.maxListedTree; index += 1) files().write(`/workspace/many/${index}`, new Uint8Array());
    const { entries, truncated } = await bodyOf(await send('GET', 'workspace?recursive=true'));
    expect([entries.length, truncated]).toEqual([limits.maxListedTree, true]);
  });
});

describe('a conditional write', () => {
  it('fails with an outdated tag, and with If-None-Match on an existing file', async () => {
    const made = await send('PUT', 'a', 'one', { 'if-none-match': '*' });
    const tag = String(made.headers.get('etag'));
    expect([made.status, tag]).toEqual([201, expect.stringMatching(/^"[0-9a-f]{64}"$/)]);
    expect((await send('GET', 'a')).headers.get('etag')).toBe(tag);
    const lost = await send('PUT', 'a', 'two', { 'if-none-match': '*' });
    expect([lost.status, (await bodyOf(lost)).code]).toEqual([412, 'precondition_failed']);

    const next = await send('PUT', 'a', 'two', { 'if-match': tag });
    expect([next.status, next.headers.get('etag') === tag]).toEqual([200, false]);
    for (const ifMatch of [tag, `W/${next.headers.get('etag')}`, '"1"', '""']) {
      const late = await send('PUT', 'a', 'three', { 'if-match': ifMatch });
      expect([ifMatch, late.status, (await bodyOf(late)).detail]).toEqual([ifMatch, 412, expect.stringContaining('Read it again')]);
      expect((await send('DELETE', 'a', undefined, { 'if-match': ifMatch })).status, ifMatch).toBe(412);
    }
    expect(await (await send('GET', 'a')).text()).toBe('two');
    expect((await send('PUT', 'a', 'four', { 'if-match': `${tag}, ${next.headers.get('etag')}` })).status).toBe(200);
    expect((await send('PUT', 'a', 'five', { 'if-match': '*' })).status).toBe(200);
    expect((await send('PUT', 'b', 'six', { 'if-match': '*' })).status).toBe(412);
    expect(await problemIn(await send('PUT', 'a', 'x', { 'if-none-match': tag }))).toBe('422 invalid_request at if-none-match');
    expect((await send('DELETE', 'a', undefined, { 'if-match': '*' })).status).toBe(204);
    expect((await send('DELETE', 'a', undefined, { 'if-match': '*' })).status).toBe(412);
    expect(stored()).toEqual([]);
  });

  it('fails for the second of two concurrent ones', async () => {
    const tag = String((await send('PUT', 'a', 'one')).headers.get('etag'));
    const both = await Promise.all(['two', 'three'].map((text) => send('PUT', 'a', text, { 'if-match': tag })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  it('returns 304 to a reader that has the bytes', async () => {
    const tag = String((await send('PUT', 'a', 'one')).headers.get('etag'));
    const same = await send('GET', 'a', undefined, { 'if-none-match': `"x", ${tag}` });
    expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, tag, '']);
    expect((await send('GET', 'a', undefined, { 'if-none-match': '"x"' })).status).toBe(200);
  });
});

describe('bounds', () => {
  it('are problems that say what to do', async () => {
    for (let index = 0; index < limits.maxSessionFilesBytes / limits.maxFileBytes; index += 1)
      files().write(`/workspace/${index}`, new Uint8Array(limits.maxFileBytes));
    const full = await send('PUT', 'x', 'y');
    expect([full.status, await bodyOf(full)]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', detail: expect.stringMatching(/No space .* Delete some first/) }),
    ]);
    expect((await bodyOf(await send('GET', ''))).usage).toMatchObject({ bytes: limits.maxSessionFilesBytes });
    const large = await send('PUT', '0', new Uint8Array(maxFileBodyBytes + 1));
    expect([large.status, (await bodyOf(large)).code]).toEqual([413, 'body_too_large']);
    expect((await send('DELETE', '0')).status).toBe(204);
    expect((await send('PUT', 'x', 'y')).status).toBe(201);
    const inFile = await send('PUT', 'x/y', 'z');
    expect([inFile.status, (await bodyOf(inFile)).code]).toEqual([409, 'conflict']);
    const name = await send('PUT', 'n'.repeat(maxFileNameBytes + 1), 'z');
    expect([name.status, (await bodyOf(name)).code]).toEqual([422, 'invalid_request']);
  });
});

describe('any bytes', () => {
  it('are read back unchanged, with any name, and never as a page', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), fc.constantFrom('a', 'a.html', 'a.svg', 'ž.js', 'a b'), async (bytes, name) => {
        const made = await send('PUT', encodeURIComponent(name), bytes, { 'content-type': 'text/html' });
        const read = await send('GET', encodeURIComponent(name));
        expect([...new Uint8Array(await read.arrayBuffer())]).toEqual([...bytes]);
        expect(read.headers.get('etag')).toBe(made.headers.get('etag'));
        expect(Object.fromEntries(read.headers)).toMatchObject({
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment',
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
        });
      }),
    );
  });
});

type Row = { id: string; class: string; cwd: string; root: string; input: string; expect: string; resolved?: string };

describeCorpus('security/path-cases.jsonl', (path) => {
  it('are written where they resolve to, or not at all', async () => {
    const rows = readJsonLines<Row>(path).filter(({ class: kind, cwd }) => kind !== 'symlink' && cwd === '/workspace');
    const counts = { inside: 0, outside: 0, refused: 0 };
    for (const row of rows) {
      if (!canBeSent(row.input)) continue;
      const answer = await send('PUT', encodeURIComponent(row.input), 'x');
      if (answer.status === 201) {
        const { path: written } = await bodyOf(answer);
        expect(row.expect, row.id).not.toBe('reject');
        expect(written, row.id).toBe(row.resolved);
        expect(stored(), row.id).toEqual([written]);
        expect(isInside(written, row.root), row.id).toBe(row.expect === 'inside');
        counts[isInside(written, row.root) ? 'inside' : 'outside'] += 1;
      } else {
        expect([404, 409, 422], row.id).toContain(answer.status);
        expect(stored(), row.id).toEqual([]);
        counts.refused += 1;
      }
      for (const { name } of files().list('/')) files().remove(`/${name}`, { recursive: true });
    }
    printStatistics(`path-cases over HTTP: ${rows.length} rows, as expected: ${JSON.stringify(counts)}`);
    expect(rows.length).toBeGreaterThan(80);
  });
});

describeCorpus('security/path-payloads.json', (path) => {
  it('are used literally as session files, or rejected', async () => {
    const payloads = Object.values(readJson<{ sources: Record<string, string[]> }>(path).sources).flat();
    let refused = 0;
    for (const payload of payloads) {
      const answer = await send('PUT', encodeURIComponent(payload.toWellFormed()), payload);
      const resolved = resolvePath(payload);
      if (answer.status !== 201) {
        refused += 1;
        expect([404, 405, 409, 422], payload).toContain(answer.status);
        continue;
      }
      const { path: written } = await bodyOf(answer);
      if (!resolved.ok) throw new Error(resolved.reason);
      expect(written).toBe(resolved.path);
      expect(await (await send('GET', encodeURIComponent(payload))).text(), payload).toBe(payload);
      expect((await send('DELETE', encodeURIComponent(payload))).status, payload).toBe(204);
      for (const { name } of files().list('/')) files().remove(`/${name}`, { recursive: true });
    }
    printStatistics(`path-payloads over HTTP: ${payloads.length} payloads, ${refused} refused, none outside`);
    expect(h.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Clients normalize such segments to another URL, and cannot send lone surrogates. */
function canBeSent(input: string): boolean {
  return input !== '' && input !== '.' && input !== '..' && input.isWellFormed();
}

/** Deleted data is in no file of the data folder: the runtime's databases, their write-ahead logs, and KV. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';
import { waitFor } from '../wait-for.ts';

let dataDir = '';
let service: RunningService;

const files = (): string[] =>
  readdirSync(join(dataDir, 'state'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
/** Files may be created and removed while they are read. */
const read = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
};
const holding = (text: string): string[] =>
  files()
    .filter((path) => read(path).includes(text))
    .map((path) => basename(path));

/** The current sealed values in the database of the Catalog, read from a copy. */
function sealedValues(query: string): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'moniker-copy-'));
  try {
    const found: string[] = [];
    for (const path of files().filter((file) => file.endsWith('.sqlite') && file.includes('Catalog'))) {
      for (const suffix of ['', '-wal']) {
        try {
          cpSync(`${path}${suffix}`, join(copy, `${basename(path)}${suffix}`));
        } catch {
          // The copy has no write-ahead log.
        }
      }
      const database = new DatabaseSync(join(copy, basename(path)));
      try {
        if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'documents'").get() !== undefined)
          found.push(
            ...database
              .prepare(query)
              .all()
              .map((row) => String(row.sealed)),
          );
      } finally {
        database.close();
      }
    }
    return found;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Keeps requests coming: the runtime closes an object that is idle for 10 s, which removes its write-ahead log. */
const gone = (text: string) =>
  waitFor(async () => {
    await service.call('GET', '/v1/agents');
    expect(holding(text)).toEqual([]);
  });

beforeAll(async () => {
  dataDir = makeDataDir();
  service = await startService(dataDir);
  await service.call('PUT', '/v1/agents/helper', { model: 'rehearsal/default', instructions: 'Help.' });
});
afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
});

const long = 'v'.repeat(9_000);
const rows: [what: string, path: string, body: object, kind: string][] = [
  ['a secret', '/v1/secrets/one', { value: 'a value of a secret', hosts: ['a.example.com'] }, 'secret'],
  ['a secret of several pages', '/v1/secrets/long', { value: long, hosts: ['a.example.com'] }, 'secret'],
  ['a provider', '/v1/providers/p', { kind: 'openai', baseUrl: 'https://p.example.com/v1', apiKey: 'sk-0123456789' }, 'provider'],
  ['a webhook', '/v1/webhooks/w', { agent: 'helper', scheme: 'github', secret: 'a secret of a webhook', input: 'x' }, 'webhook'],
  ['a subscription', '/v1/subscriptions/s', { url: 'https://s.example.com/', secret: 'a secret of a subscription' }, 'subscription'],
];

describe('the files of a local installation', () => {
  it.each(rows)('hold nothing of %s after its deletion', async (_what, path, body, kind) => {
    expect((await service.call('PUT', path, body)).status).toBe(201);
    const [sealed = ''] = sealedValues(`SELECT sealed FROM documents WHERE kind = '${kind}' AND sealed IS NOT NULL`);
    expect(sealed.length).toBeGreaterThan(20);
    expect(holding(sealed.slice(0, 60)).length).toBeGreaterThan(0);
    expect((await service.call('DELETE', path)).status).toBe(204);
    await gone(sealed.slice(0, 60));
    await gone(sealed.slice(-60));
    // The service still accepts requests.
    expect((await service.call('GET', path)).status).toBe(404);
    expect((await service.call('GET', '/v1/agents/helper')).status).toBe(200);
  });

  it('hold nothing of an agent after its deletion, also while many requests wait for the Catalog', async () => {
    const canary = 'canary-under-load-4f0a';
    const ended = new AbortController();
    const readers = Array.from({ length: 12 }, async () => {
      while (!ended.signal.aborted) expect((await service.call('GET', '/v1/agents')).status).toBe(200);
    });
    try {
      await service.call('PUT', '/v1/agents/busy', { model: 'rehearsal/default', instructions: canary });
      expect(holding(canary).length).toBeGreaterThan(0);
      expect((await service.call('DELETE', '/v1/agents/busy')).status).toBe(204);
      await gone(canary);
    } finally {
      ended.abort();
      await Promise.all(readers);
    }
  });

  it('hold nothing of a value that was replaced', async () => {
    const put = (value: string) => service.call('PUT', '/v1/secrets/turned', { value, hosts: ['a.example.com'] });
    const query = "SELECT sealed FROM documents WHERE name = 'turned'";
    await put('the first value');
    const [before = ''] = sealedValues(query);
    await put('the second value');
    await gone(before);
    expect(sealedValues(query)[0]).not.toBe(before);
  });

  it('hold nothing of a deleted session, including its callbacks', async () => {
    const canary = 'canary-of-a-session-9c1f';
    await service.call('PUT', '/v1/subscriptions/all', { url: 'https://receiver.invalid/', secret: 'a secret of a subscription' });
    const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', instructions: canary });
    for (const word of ['one', 'two']) await service.call('POST', `/v1/sessions/${json.id}/turns`, { input: `say ${canary} ${word}` });
    await waitFor(() => expect(holding(canary).length).toBeGreaterThan(1));
    await service.call('DELETE', `/v1/sessions/${json.id}`);
    await gone(canary);
  });

  it('hold nothing of the questions and the title of a deleted session', async () => {
    const canary = 'canary-of-a-question-2b8d';
    await service.call('PUT', '/v1/toolsets/asking', { tools: [{ tool: 'builtin.bash', name: 'asks', approval: 'always' }] });
    const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' });
    const path = `/v1/sessions/${json.id}`;
    for (const decision of ['approve', 'deny', null]) {
      await service.call('POST', `${path}/turns`, { input: `/asks {"command": "echo ${canary}"}` });
      const { callId } = await waitFor(async () => {
        const { json: list } = await service.call('GET', '/v1/approvals?state=pending');
        expect(list.items).toMatchObject([{ session: json.id }]);
        return list.items[0] as { callId: string };
      });
      if (decision !== null) expect((await service.call('POST', `${path}/approvals/${callId}`, { decision })).status).toBe(200);
      if (decision !== null)
        await waitFor(async () => expect((await service.call('GET', '/v1/sessions?status=completed')).text).toContain(json.id));
    }
    expect((await service.call('GET', '/v1/sessions')).text).toContain(canary);
    expect((await service.call('DELETE', path)).status).toBe(204);
    await gone(canary);
  });

  it('hold nothing of the files of a deleted session', async () => {
    const [canary, large] = ['canary-of-a-file-51d0', 'canary-of-a-large-file-7be2'];
    const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
    const write = (path: string, body: string) =>
      fetch(`${service.url}/v1/sessions/${json.id}/files/${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${service.key}`, 'content-type': 'text/plain' },
        body,
      });
    expect((await write('workspace/small.txt', canary)).ok).toBe(true);
    expect((await write('workspace/large.txt', large.repeat(40_000))).ok).toBe(true);
    await waitFor(() => expect(holding(canary).length * holding(large).length).toBeGreaterThan(0));
    await service.call('DELETE', `/v1/sessions/${json.id}`);
    await gone(canary);
    await gone(large);
  });

  it('hold nothing of a deleted webhook, its deliveries and their sessions', async () => {
    const canary = 'canary-of-a-webhook-3c77';
    const hook = { agent: 'helper', scheme: 'bearer', secret: 'a token of a webhook', input: `${canary} {{text}}`, session: '{{text}}' };
    expect((await service.call('PUT', '/v1/webhooks/erased', hook)).status).toBe(201);
    const answers = await Promise.all(
      ['one', 'two'].map((text) =>
        fetch(`${service.url}/hooks/default/erased`, {
          method: 'POST',
          headers: { authorization: 'Bearer a token of a webhook', 'content-type': 'application/json', 'x-note': canary },
          body: JSON.stringify({ text, filler: `${canary} `.repeat(400) }),
        }),
      ),
    );
    expect(answers.every(({ ok }) => ok)).toBe(true);
    const ended = await waitFor(async () => {
      const { json } = await service.call('GET', '/v1/webhooks/erased/deliveries');
      expect(json.items.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed']);
      return json.items as { session: string }[];
    });
    expect(holding(canary).length).toBeGreaterThan(1);
    for (const { session } of ended) await service.call('DELETE', `/v1/sessions/${session}`);
    expect((await service.call('DELETE', '/v1/webhooks/erased')).status).toBe(204);
    await gone(canary);
  });

  const documents: [what: string, path: string, body: (text: string) => object][] = [
    ['an agent', '/v1/agents/erased', (text) => ({ model: 'rehearsal/default', instructions: text })],
    ['a skill', '/v1/skills/erased', (text) => ({ content: skill(text), resources: { 'a.txt': text } })],
    ['a provider', '/v1/providers/erased', (text) => ({ kind: 'openai', baseUrl: `https://p.example.com/${text}/v1`, apiKey: text })],
    ['a server', '/v1/servers/erased', (text) => ({ kind: 'static', url: `http://127.0.0.1:9/${text}`, tools: [lookTool(text)] })],
    ['a schedule', '/v1/schedules/erased', (text) => ({ agent: 'helper', cron: '0 0 1 1 *', input: text })],
  ];
  it.each(documents)('hold nothing of %s after its deletion, neither in the database nor in KV', async (_what, path, body) => {
    const canary = (index: number): string => `canary-${path.slice(4).replaceAll(/\W/g, '-')}-${index}`;
    for (const [index, filler] of ['', '-'.repeat(1_900), '-'.repeat(30)].entries()) {
      const { status, text } = await service.call('PUT', path, body(`${canary(index)}${filler}`));
      expect([status, text]).toEqual([index === 0 ? 201 : 200, expect.any(String)]);
    }
    expect(holding(canary(2)).length).toBeGreaterThan(0);
    expect((await service.call('DELETE', path)).status).toBe(204);
    for (const index of [0, 1, 2]) await gone(canary(index));
  });
});

const skill = (text: string): string => `---\nname: erased\ndescription: Is erased.\n---\n${text}\n`;
const lookTool = (description: string): object => ({ name: 'look', description, inputSchema: { type: 'object', properties: {} } });

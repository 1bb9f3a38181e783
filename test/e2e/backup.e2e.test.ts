/** A workspace with every kind of thing is backed up and restored into an empty service with the same master key: both are equal. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { root } from './service.ts';
import { deliver, signStandard } from './webhook-payloads.ts';
import { shareService, type SharedService } from './shared-service.ts';

const masterKey = 'master-key-of-the-backup-test-0123456789';
const environment = { MONIKER_MASTER_KEY: masterKey, MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };
const from = shareService(environment);
const to = shareService(environment);

/** The archive as pages; each has whole lines. */
async function backUp(service: SharedService): Promise<string[]> {
  const pages: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await service.call('GET', `/v1/backup${cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`}`);
    expect(page.status, page.text).toBe(200);
    pages.push(page.text);
    const next = page.headers.get('x-next-cursor');
    if (next === null) return pages;
    cursor = next;
  }
}

const restore = (service: SharedService, body: string, query = '') =>
  service.call('POST', `/v1/restore${query}`, body, { 'content-type': 'application/jsonl' });

async function restored(service: SharedService): Promise<void> {
  await vi.waitFor(async () => expect((await service.call('GET', '/v1/restore')).json.state).toBe('none'), { timeout: waitMs });
}

const lists = [
  ...['toolsets', 'agents', 'skills', 'servers', 'providers', 'webhooks', 'schedules', 'subscriptions', 'secrets', 'keys', 'tools'],
  ...[
    'sessions',
    'approvals',
    'audit',
    'usage?by=model',
    'usage?by=tool',
    'requests',
    'deliveries',
    'policy',
    'model-aliases',
    'suites',
    'workspaces',
    'skills/filing',
  ],
];
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const session = { waiting: '', ended: '' };
let ciKey: string;
let later: string;

/** What clients see of the workspace; the audit also has the row of the backup, or of the restore. */
async function view(service: SharedService): Promise<Record<string, unknown>> {
  const paths = [
    ...lists.map((list) => `/v1/${list}`),
    ...[
      '/v1/toolsets/desk/versions',
      '/v1/toolsets/desk?version=1',
      '/v1/agents/clerk/versions',
      '/v1/suites/daily/versions',
      '/v1/webhooks/triage/deliveries',
      '/v1/webhooks/triage/deliveries/msg_1',
      '/v1/tools/made.twice/versions',
      '/v1/schedules/daily/runs',
    ],
    ...Object.values(session).flatMap((id) => [
      `/v1/sessions/${id}`,
      `/v1/sessions/${id}/events?follow=false&limit=500`,
      `/v1/sessions/${id}/messages`,
      `/v1/sessions/${id}/files`,
      `/v1/sessions/${id}/approvals`,
    ]),
    `/v1/sessions/${session.ended}/files/note.txt`,
  ];
  const seen: Record<string, unknown> = {};
  for (const path of paths) {
    const answer = await service.call('GET', path);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    seen[path] = { status: answer.status, body: withoutOwnRows(tryJson(answer.text.replaceAll(service.url, 'URL'))) };
  }
  return seen;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A file.
    return text;
  }
}

function withoutOwnRows(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('items' in body) || !Array.isArray(body.items)) return body;
  return { ...body, items: body.items.filter(({ action }: { action?: string }) => action !== 'backup' && action !== 'restore') };
}

beforeAll(async () => {
  const put = async (path: string, body: unknown): Promise<void> => {
    const answer = await from.call('PUT', path, body);
    expect([200, 201], `${path}: ${answer.text}`).toContain(answer.status);
  };
  await put('/v1/secrets/token', { value: 'a secret value', hosts: ['127.0.0.1'] });
  await put('/v1/toolsets/desk', { tools: [{ tool: 'builtin.bash', name: 'sh', approval: 'always' }] });
  await put('/v1/toolsets/desk', {
    tools: [
      { tool: 'builtin.bash', name: 'sh', aliases: ['run'], approval: 'always' },
      { tool: 'builtin.write_file', name: 'save' },
    ],
  });
  await put('/v1/agents/clerk', { model: 'rehearsal/default', instructions: 'You help.', toolset: 'desk' });
  await put('/v1/agents/clerk', { model: 'rehearsal/default', instructions: 'You help much.', toolset: 'desk' });
  await put('/v1/skills/filing', {
    content: '---\nname: filing\ndescription: How to file. Use for files.\n---\nFile by date.\n',
    resources: { 'a/b.txt': 'text' },
  });
  await put('/v1/servers/shop', {
    kind: 'static',
    url: 'http://127.0.0.1:9/tools',
    tools: [{ name: 'buy', description: 'Buys.', inputSchema: { type: 'object', properties: {} } }],
  });
  await put('/v1/providers/house', { kind: 'openai-compatible', models: ['m'], baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-house' });
  await put('/v1/policy', { rules: [{ decision: 'deny', tool: 'builtin.delete_file' }] });
  await put('/v1/model-aliases/fast', { model: 'rehearsal/default' });
  await put('/v1/suites/daily', { select: { agent: 'clerk' } });
  await put('/v1/suites/daily', { select: { agent: 'clerk' }, rules: [{ calls: 'same' }] });
  await put('/v1/webhooks/triage', { agent: 'clerk', scheme: 'standard', secret, session: 'all', input: 'hello {{payload.n}}' });
  await put('/v1/schedules/daily', { agent: 'clerk', session: 'daily', input: 'hello', cron: '0 4 * * *' });
  ciKey = (await from.call('POST', '/v1/keys', { name: 'ci', scopes: ['chat', 'approve'], agents: ['clerk'] })).json.key;

  await put('/v1/workspaces/default', { settings: { retention: { auditDays: 30 } } });
  await put('/v1/tools/builtin.bash/aliases', { aliases: ['console'] });
  await put('/v1/tools/ui.camera', {
    label: 'Camera',
    description: 'Takes a photo.',
    category: 'upload',
    triggers: ['photo'],
    href: '/camera',
  });
  await put('/v1/tools/made.twice', {
    description: 'Twice a value.',
    parameters: [{ name: 'expression', type: 'string', description: 'The expression.', required: true }],
    implementation: 'return await tools.calculate({ expression: args.expression });',
    uses: ['local.calculate'],
  });
  await put('/v1/subscriptions/ends', { url: 'http://127.0.0.1:9/', secret, events: ['turn.completed'] });
  expect((await deliver(from, 'triage', signStandard(secret, { n: 3 }, 'msg_1'))).status).toBe(202);
  await vi.waitFor(async () => expect((await from.call('GET', '/v1/webhooks/triage/deliveries/msg_1')).json.status).toBe('completed'), {
    timeout: waitMs,
  });

  const start = async (): Promise<string> => (await from.call('POST', '/v1/sessions', { agent: 'clerk' })).json.id;
  const run = async (id: string, input: string): Promise<string> =>
    (await from.call('POST', `/v1/sessions/${id}/turns`, { input })).json.status;
  session.ended = await start();
  expect(await run(session.ended, '/save {"path": "note.txt", "content": "kept"}')).toBe('completed');
  session.waiting = await start();
  await run(session.waiting, '/sh {"command": "echo approved > done.txt"}');
  await vi.waitFor(async () => expect((await from.call('GET', '/v1/approvals')).json.items).toHaveLength(1), { timeout: waitMs });
  await vi.waitFor(async () => expect((await from.call('GET', '/v1/requests')).json.items.length).toBeGreaterThan(0), { timeout: waitMs });
});

describe('a backup', () => {
  let pages: string[];
  let before: Record<string, unknown>;

  beforeAll(async () => {
    before = await view(from);
    pages = await backUp(from);
  });

  it('has every part with its hash, and no secret value', () => {
    const lines = pages.join('').trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '').part).toMatchObject({ kind: 'header', format: 1, workspace: 'default' });
    expect(JSON.parse(lines.at(-1) ?? '').part).toMatchObject({ kind: 'end', leftOut: [] });
    expect(pages.join('')).not.toContain('a secret value');
    expect(pages.join('')).not.toContain('sk-house');
    expect(pages.join('')).not.toContain(ciKey);
  });

  it('restores an equal workspace', async () => {
    for (const page of pages) {
      const answer = await restore(to, page);
      expect(answer.status, answer.text).toBe(200);
    }
    await restored(to);
    const after = await view(to);
    for (const [path, seen] of Object.entries(before)) expect(after[path], path).toEqual(seen);
  });

  it('keeps the audit verifiable, with the restore as its newest change', async () => {
    expect((await to.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true, broken: null });
    const [newest] = (await to.call('GET', '/v1/audit?kind=change')).json.items;
    expect(newest).toMatchObject({ action: 'restore', resource: 'workspace', keyId: 'root' });
  });

  it('keeps keys, secrets and approvals usable, and sessions continue', async () => {
    const answer = await to.call(
      'POST',
      '/v1/chat/completions',
      { model: 'agent/clerk', messages: [{ role: 'user', content: 'hello' }] },
      { authorization: `Bearer ${ciKey}` },
    );
    expect(answer.status, answer.text).toBe(200);
    const [approval] = (await to.call('GET', `/v1/sessions/${session.waiting}/approvals`)).json.items;
    const decided = await to.call('POST', `/v1/sessions/${session.waiting}/approvals/${approval.callId}`, { decision: 'approve' });
    expect(decided.status, decided.text).toBe(200);
    await vi.waitFor(async () => expect((await to.call('GET', `/v1/sessions/${session.waiting}/files/done.txt`)).text).toBe('approved\n'), {
      timeout: waitMs,
    });
    later = (await to.call('POST', '/v1/sessions', { agent: 'clerk' })).json.id;
    const turn = await to.call('POST', `/v1/sessions/${session.ended}/turns`, { input: '/save {"path": "next.txt", "content": "more"}' });
    expect(turn.json.status).toBe('completed');
  });

  it('is written and restored by the command, over a workspace that is not empty', () => {
    const folder = mkdtempSync(join(tmpdir(), 'moniker-backup-'));
    const file = join(folder, 'archive.jsonl.gz');
    const moniker = (service: SharedService, ...parameters: string[]) =>
      spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...parameters, '--url', service.url, '--key', service.key], {
        encoding: 'utf8',
        timeout: waitMs,
      });
    try {
      expect(moniker(from, 'backup', file, '--json')).toMatchObject({ status: 0, stderr: '' });
      expect(moniker(from, 'backup', file)).toMatchObject({ status: 2, stderr: expect.stringContaining('--force') });
      expect(moniker(to, 'restore', file)).toMatchObject({ status: 1, stderr: expect.stringContaining('not empty') });
      const { status, stderr, stdout } = moniker(to, 'restore', file, '--replace');
      expect([status, stderr, stdout]).toEqual([0, '', expect.stringContaining('Restored')]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('replaces sessions, and deletes those that the archive does not have', async () => {
    const files = (id: string) => to.call('GET', `/v1/sessions/${id}/files`);
    expect((await files(session.ended)).json.entries.map(({ name }: { name: string }) => name)).toEqual(['note.txt']);
    expect((await to.call('GET', `/v1/sessions/${session.waiting}/approvals`)).json.items).toHaveLength(1);
    expect((await files(later)).status).toBe(404);
    expect((await to.call('GET', '/v1/audit/verify')).json).toMatchObject({ ok: true, broken: null });
  });

  it('that stopped in its restore leaves a service that starts, says so, and can give it up', async () => {
    expect((await restore(to, (pages[0] ?? '').split('\n', 1)[0] ?? '', '?replace=true')).json.state).toBe('restoring');
    await to.restart();
    expect(to.printed()).toContain('moniker restore --abandon');
    expect((await to.call('GET', '/v1/agents')).status).toBe(503);
    expect((await to.call('DELETE', '/v1/restore')).json.state).toBe('none');
    expect((await to.call('GET', '/v1/agents')).json.items).toEqual([]);
  });
});

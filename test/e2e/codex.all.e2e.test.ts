/**
 * Codex without a terminal, where `codex` is installed (its package has 420 MB, too many for the tests' dependencies): it runs its own tools
 * in a loop over every wire, its own one among them, by HTTP and over a WebSocket alone. What it offers depends on the name of the model:
 * functions and a namespace for names that it does not know, a free-text tool and a search for tools for `gpt-5.5`, and for `gpt-5.6-sol`
 * tools among the items, of which one runs code. Last run by hand with Codex 0.171.0.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Say, Script, Understood } from '../fakes/upstreams/upstream.ts';
import { isSkipped } from '../selection.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { isInstalled } from './installed.ts';
import { runProgram } from './run-program.ts';
import { shareService } from './shared-service.ts';

/** The last is a server that only resembles OpenAI's, so that its replies are read on their way. */
const models = {
  ...Object.fromEntries(
    (['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] satisfies Wire[]).map((wire) => [wire, refOf(wire)]),
  ),
  'alike-openai-responses': refOf('openai-responses').replace('my-', 'alike-'),
};
const rows = Object.entries(models);
const transports = { HTTP: false, 'a WebSocket': true };

const resultsOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
const patch = ['*** Begin Patch', '*** Add File: made.txt', '+crane', '*** End Patch'].join('\n');
const code = 'const result = await tools.exec_command({ cmd: "cat note.txt" }); text(result.output);';

describe.skipIf(isSkipped(!isInstalled('codex'), 'Codex', 'there is no codex in PATH'))('Codex', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  const home = mkdtempSync(join(tmpdir(), 'moniker-codex-'));
  const folder = join(home, 'work');
  let fakes: FakeProviders;
  let tunnel: Awaited<ReturnType<typeof startTunnel>>;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    tunnel = await startTunnel(service.url);
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), 'The word is heron.\n');
    const settings = ['check_for_update_on_startup = false', '[analytics]', 'enabled = false'];
    for (const [name, hasSockets] of Object.entries(transports))
      settings.push(
        `[model_providers.${hasSockets ? 'socket' : 'http'}]`,
        `name = "Moniker over ${name}"`,
        `base_url = "${tunnel.url}/v1"`,
        'env_key = "MONIKER_KEY"',
        'wire_api = "responses"',
        `supports_websockets = ${hasSockets}`,
      );
    writeFileSync(join(home, 'config.toml'), settings.join('\n'));
    for (const [name, model] of rows)
      for (const known of ['gpt-5.5', 'gpt-5.6-sol']) {
        const { status, text } = await service.call('PUT', `/v1/model-aliases/${encodeURIComponent(`at-${name}/${known}`)}`, { model });
        expect(status, text).toBe(201);
      }
  });
  afterAll(() => {
    tunnel.close();
    fakes.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** Returns what it printed last, and what it sent, where the frames of a WebSocket are masked. */
  async function run(model: string, prompt: string, hasSockets: boolean): Promise<{ out: string; heard: string }> {
    const before = tunnel.heard().length;
    const provider = ['--config', `model_provider="${hasSockets ? 'socket' : 'http'}"`];
    const unasked = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    const {
      out,
      err,
      code: exit,
    } = await runProgram('codex', ['exec', ...provider, ...unasked, '--model', model, prompt], {
      cwd: folder,
      env: { HOME: home, CODEX_HOME: home, MONIKER_KEY: service.key },
    });
    expect(exit, err).toBe(0);
    return { out, heard: tunnel.heard().slice(before) };
  }

  /** Calls `steps` one after the other, then says what it has read. */
  const reads =
    (...steps: NonNullable<Say['calls']>): Script =>
    (heard) => {
      const results = resultsOf(heard);
      const next = steps[results.length];
      if (next !== undefined) return { reasoning: 'I need it.', text: 'I look.', calls: [next] };
      return { text: results.some(({ text }) => text.includes('heron')) ? 'The word is heron.' : 'I cannot read it.' };
    };
  const shell = { name: 'exec_command', arguments: { cmd: 'cat note.txt' } };

  describe.each(Object.entries(transports))('over %s', (transport, hasSockets) => {
    it.each(rows)('reads a file with its own tool over %s', async (name, model) => {
      const story = fakes.start(`codex ${name} ${transport}`, { say: reads(shell) });
      const { out, heard } = await run(model, `What is the word? ${story.mark}`, hasSockets);
      expect(out).toContain('The word is heron.');
      expect(heard).toContain(hasSockets ? 'GET /v1/responses ' : 'POST /v1/responses ');
      expect(heard).not.toContain(hasSockets ? 'POST /v1/responses ' : 'GET /v1/responses ');
      expect(story.understood.map(({ tools }) => tools.includes('exec_command'))).toEqual([true, true]);
      expect(story.understood[0]?.tools).toContain('multi_agent_v1__spawn_agent');
    });
  });

  it.each(rows)('edits a file with its free-text tool over %s', async (name) => {
    rmSync(join(folder, 'made.txt'), { force: true });
    const story = fakes.start(`codex ${name} patch`, { say: reads({ name: 'apply_patch', arguments: { input: patch } }, shell) });
    const { out } = await run(`at-${name}/gpt-5.5`, `Edit. ${story.mark}`, false);
    expect(out).toContain('The word is heron.');
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('crane\n');
    expect(story.understood[0]?.tools).toEqual(expect.arrayContaining(['apply_patch', 'tool_search']));
  });

  it.each(rows)('runs code that calls its tools over %s', async (name) => {
    const story = fakes.start(`codex ${name} code`, { say: reads({ name: 'exec', arguments: { input: code } }) });
    const { out } = await run(`at-${name}/gpt-5.6-sol`, `What is the word? ${story.mark}`, true);
    expect(out).toContain('The word is heron.');
    expect(story.understood[0]?.tools).toContain('exec');
  });

  it('the stand-ins rejected no request', () => {
    expect(fakes.refused()).toEqual([]);
  });
});

/** Passes connections on, and keeps what clients send. */
async function startTunnel(url: string) {
  const { hostname, port } = new URL(url);
  let heard = '';
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    heard: () => heard,
    close: () => server.close(),
  };
}

/**
 * Stock clients of the WebSocket mode of Responses: the OpenAI Agents SDK, and Codex where `codex` is installed (its package has 420 MB, too
 * many for the tests' dependencies). Both run their own tools in a loop over the wires of other providers.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Script, Understood } from '../fakes/upstreams/upstream.ts';
import { isSkipped } from '../selection.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { runProgram } from './run-program.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
const wires = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] satisfies Wire[];
let fakes: FakeProviders;

beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
});
afterAll(() => fakes.close());

const resultsOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
const returnedOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'assistant' ? message.returned : []));

describe('the OpenAI Agents SDK', () => {
  const weather = tool({
    name: 'get_weather',
    description: 'Returns the weather of a city.',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `Rain in ${city}.`,
  });
  /** Nothing listens at the address of HTTP: only the WebSocket is used. */
  const provider = () =>
    new OpenAIProvider({
      ...{ apiKey: service.key, baseURL: 'http://127.0.0.1:9/v1', websocketBaseURL: `${service.url.replace('http', 'ws')}/v1` },
      ...{ useResponses: true, useResponsesWebSocket: true },
    });

  it.each(wires)('calls its own tools and continues over %s', async (wire) => {
    const story = fakes.start(`agents ${wire}`, {
      say: (heard) => {
        const [first, second] = resultsOf(heard);
        if (first === undefined)
          return {
            reasoning: 'Both.',
            text: 'I look.',
            calls: ['Oslo', 'Rome'].map((city) => ({ name: 'get_weather', arguments: { city } })),
          };
        return { text: heard.messages.at(-1)?.role === 'tool' ? `${first.text} ${second?.text}` : 'You are welcome.' };
      },
    });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model: refOf(wire), tools: [weather] });
      const first = await runner.run(agent, `How is it? ${story.mark}`);
      expect(first.finalOutput).toBe('Rain in Oslo. Rain in Rome.');
      const second = await runner.run(agent, [...first.history, { role: 'user', content: 'Thanks.' }], { stream: true });
      await second.completed;
      expect(second.finalOutput).toBe('You are welcome.');
      expect(story.understood.map(({ tools, system }) => [tools, system])).toEqual(Array(3).fill([['get_weather'], 'Be brief.']));
      if (wire !== 'openai') expect(returnedOf(story.understood[2] as Understood).length).toBeGreaterThan(0);
    } finally {
      await modelProvider.close();
    }
  });

  it('continues from the connection by the id of the response, with store: false', async () => {
    const story = fakes.start('agents continued', { say: (_heard, index) => ({ text: index === 0 ? 'One.' : 'Two.' }) });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      const agent = new Agent({ name: 'Counter', model: refOf('anthropic'), modelSettings: { store: false } });
      const { lastResponseId } = await runner.run(agent, `Count. ${story.mark}`);
      const second = await runner.run(agent, 'On.', { previousResponseId: lastResponseId as string });
      expect(second.finalOutput).toBe('Two.');
      expect(story.understood[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    } finally {
      await modelProvider.close();
    }
  });

  it('ends a run with an error if a message is refused, and answers the next run', async () => {
    const story = fakes.start('agents refused', { say: () => ({ text: 'Here.' }) });
    const modelProvider = provider();
    try {
      const runner = new Runner({ modelProvider, tracingDisabled: true });
      await expect(runner.run(new Agent({ name: 'Lost', model: 'nowhere/m' }), 'x')).rejects.toThrow('terminal state "error"');
      const { finalOutput } = await runner.run(new Agent({ name: 'Found', model: refOf('anthropic') }), story.mark);
      expect(finalOutput).toBe('Here.');
    } finally {
      await modelProvider.close();
    }
  });
});

describe.skipIf(isSkipped(!isInstalled('codex'), 'Codex over a WebSocket', 'there is no codex in PATH'))('Codex', () => {
  const home = mkdtempSync(join(tmpdir(), 'moniker-codex-'));
  const folder = join(home, 'work');
  let tunnel: Awaited<ReturnType<typeof startTunnel>>;

  beforeAll(async () => {
    tunnel = await startTunnel(service.url);
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), 'The word is heron.\n');
    const settings = [
      'model_provider = "moniker"',
      'check_for_update_on_startup = false',
      '[analytics]',
      'enabled = false',
      '[model_providers.moniker]',
      'name = "Moniker"',
      `base_url = "${tunnel.url}/v1"`,
      'env_key = "MONIKER_KEY"',
      'wire_api = "responses"',
      'supports_websockets = true',
    ];
    writeFileSync(join(home, 'config.toml'), settings.join('\n'));
  });
  afterAll(() => {
    tunnel.close();
    rmSync(home, { recursive: true, force: true });
  });

  const run = (model: string, prompt: string) =>
    runProgram('codex', ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--model', model, prompt], {
      cwd: folder,
      env: { HOME: home, CODEX_HOME: home, MONIKER_KEY: service.key },
    });

  /** Reads a file with the shell, then says what is in it. */
  const reads: Script = (heard) => {
    const results = resultsOf(heard);
    if (results.length === 0)
      return { reasoning: 'I need it.', text: 'I look.', calls: [{ name: 'exec_command', arguments: { cmd: 'cat note.txt' } }] };
    return { text: results.some(({ text }) => text.includes('heron')) ? 'The word is heron.' : 'I cannot read it.' };
  };

  it.each(wires)(
    'reads a file with its own tool over %s, over the WebSocket alone',
    async (wire) => {
      const story = fakes.start(`codex ${wire}`, { say: reads });
      const before = tunnel.heard().length;
      const { out, err, code } = await run(refOf(wire), `What is the word? ${story.mark}`);
      expect(code, err).toBe(0);
      expect(out).toContain('The word is heron.');
      const heard = tunnel.heard().slice(before);
      expect(heard).toContain('GET /v1/responses ');
      expect(heard).not.toContain('POST /v1/responses ');
      expect(story.understood.map(({ tools }) => tools.includes('exec_command'))).toEqual([true, true]);
    },
  );
});

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

/** Passes connections on, and keeps what clients send; the frames of a WebSocket are masked. */
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

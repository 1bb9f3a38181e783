/** `moniker accept` and what `moniker doctor` advises, against the routes of a workspace. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness } from '../http/harness.ts';
import { runCommand } from './run-command.ts';

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const weather = { kind: 'static', url: 'https://tools.example.com/call', updates: 'review' };

let h: Harness;
let server: Server;
let url = '';
beforeEach(async () => {
  h = createHarness();
  server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = await h.send(request.method ?? 'GET', request.url ?? '/', body === '' ? undefined : JSON.parse(body));
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const put = (...tools: object[]) => h.send('PUT', '/v1/servers/weather', { ...weather, tools });
const runMoniker = async (...parameters: string[]) =>
  (await runCommand(parameters, { environment: { MONIKER_URL: url, MONIKER_KEY: 'key' } })).stdout;
const run = (...parameters: string[]) => runMoniker('accept', ...parameters);
const stateOf = async (name: string) => (await bodyOf(await h.send('GET', `/v1/servers/weather/tools/${name}`))).state;

describe('moniker accept', () => {
  beforeEach(async () => {
    await put(tool('now', 'The weather now.'), tool('soon', 'The weather soon.'));
    await h.send('PUT', '/v1/toolsets/work', { tools: [{ tool: 'weather.now', aliases: ['look'] }] });
    await put(tool('current', 'The weather now.'), tool('soon', 'The weather of tomorrow.'));
  });

  it('only compares with past calls if asked to, and names what it compared', async () => {
    expect(await run('weather', '--impact')).toBe(
      'weather.current: would have refused 0 of 0 recorded calls\nweather.soon: would have refused 0 of 0 recorded calls\n',
    );
    expect(await run('weather', 'now', '--impact')).toBe('Nothing is held.\n');
    expect(JSON.parse(await run('weather', 'soon', '--impact', '--json'))).toMatchObject({ left: 0, impacts: [{ tool: 'weather.soon' }] });
    expect(await run('weather', '--impact', '--reject')).toBe('');
    expect([await stateOf('soon'), await stateOf('current')]).toEqual(['held', 'held']);
  });

  it('decides about what is held, and names the tools that were renamed', async () => {
    expect(await run('weather', 'soon')).toBe(
      'accepted: soon\nnow is missing, and weather.current has its definition: moniker accept weather now --rebind\n',
    );
    expect([await stateOf('soon'), await stateOf('current')]).toEqual(['ready', 'held']);
  });

  it('puts renamed tools in the place of the missing ones, under the same names', async () => {
    expect(await run('weather', 'soon', '--rebind')).toBe('soon: no tool with its definition took its place\n');
    expect(await run('weather', '--rebind')).toBe('weather.current takes the place of now in work\n');
    const resolved = await bodyOf(await h.send('GET', '/v1/toolsets/work/resolve?name=look'));
    expect(resolved).toMatchObject({ canonical: 'weather.current', state: 'ready' });
    expect(await run('weather', '--rebind')).toBe('The server has renamed no tool.\n');
    expect(await run('weather', '--rebind', '--reject')).toBe('');
  });

  it('is what moniker doctor advises', async () => {
    const stdout = await runMoniker('doctor');
    expect(stdout.match(/(?<=`)moniker accept [^`]+/g)).toEqual(['moniker accept weather', 'moniker accept weather now --rebind']);
  });
});

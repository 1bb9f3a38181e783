/** Work that callers and servers cause: it is bounded, other requests are served meanwhile, and it counts for limits. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { type ListeningUpstream, listenUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';
import { printStatistics } from '../statistics.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const waiting = { timeout: waitMs, interval: 200 };
const MB = 1024 * 1024;

/** Different at every place, so that nothing about it can be remembered. */
function restlessText(characters: number): string {
  const words = ['customer ', 'custom ', 'client\n', 'na ', 'nam', 'ma ', 'mai', 'x', 'yz', '-'];
  let [text, state] = ['', 1];
  while (text.length < characters) {
    const piece: string[] = [];
    for (let count = 0; count < 10_000; count += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      piece.push(words[(state >>> 8) % 7] ?? '', state % 5 === 0 ? (words[(state >>> 12) % 10] ?? '') : '');
    }
    text += piece.join('');
  }
  return text.slice(0, characters);
}

/** Made before the calls: making them would keep this process busy. */
const texts: Readonly<Record<string, string>> = {
  restless: restlessText(15 * MB),
  plain: `EMP-123456 and customer name ${'The order was shipped. '.repeat(600_000)}`,
};
let server: ListeningUpstream;

beforeAll(async () => {
  server = await listenUpstream({
    async handle(request) {
      const { arguments: args } = (await request.json()) as { arguments: { text: string } };
      return new Response(texts[args.text] ?? args.text, { headers: { 'content-type': 'text/plain' } });
    },
  });
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const tools = [{ name: 'read_report', description: 'Reads a report.', inputSchema, annotations: { readOnlyHint: true } }];
  const put = await service.call('PUT', '/v1/servers/reports', { kind: 'static', url: server.url, trusted: true, tools });
  expect(put.status, put.text).toBe(201);
  await service.call('PUT', '/v1/toolsets/reports', { tools: [{ tool: 'reports.read_report', name: 'read_report' }] });
  await service.call('PUT', '/v1/toolsets/shell', { tools: [{ tool: 'builtin.bash', name: 'bash' }] });
});
afterAll(() => server.close());

const read = async (text: string) =>
  (await service.call('POST', '/v1/toolsets/reports/calls', { name: 'read_report', arguments: { text } })).json;

describe('redaction', () => {
  beforeEach(async () => {
    const patterns = [
      { name: 'employee', pattern: 'EMP-[0-9]{6}' },
      { name: 'customer', pattern: '(?i)customer.{0,500}(name|mail)' },
    ];
    const { json } = await service.call('PUT', '/v1/workspaces/default', { settings: { redaction: { patterns } } });
    expect(json.warnings).toEqual([
      { path: 'settings.redaction.patterns[1].pattern', message: expect.stringContaining('can be withheld') },
    ]);
  });

  it('serves other requests while it searches a long result', async () => {
    let isOver = false;
    const call = read('restless').finally(() => {
      isOver = true;
    });
    const began = performance.now();
    let [last, longest] = [began, 0];
    while (!isOver) {
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    await call;
    const whole = performance.now() - began;
    printStatistics(`a call of ${Math.round(whole)} ms, with ${Math.round(longest)} ms at most between two other responses`);
    // Compared with each other, so that the speed of the machine does not matter: the search is most of the call.
    expect(longest / whole).toBeLessThan(0.4);
  });

  it('withholds a result that its rules cannot be applied to within their bound, and says which rule', async () => {
    const withheld = await read('restless');
    expect(withheld).toMatchObject({ isError: true, code: 'result_withheld' });
    expect(withheld.content).toEqual([
      {
        type: 'text',
        text: `The tool has run, but its result is withheld: the redaction rule "customer" could not be applied to a text of ${15 * MB} characters within its bound. Ask for less data. An administrator can simplify the rules: settings.redaction of the workspace.`,
      },
    ]);
    expect(withheld.structuredContent).toBeUndefined();
    const { items } = (await service.call('GET', '/v1/audit?tool=reports.read_report')).json;
    expect(items[0]).toMatchObject({ verdict: 'ran', code: 'result_withheld' });
  });

  it('redacts a long result in which the rules find little', async () => {
    const { content, isError } = await read('plain');
    expect(isError).toBe(false);
    expect(content[0].text.slice(0, 40)).toBe('[employee] and [customer] The order was ');
  });

  it('refuses a pattern that is too large for any text', async () => {
    const patterns = [{ name: 'own', pattern: '[a-z]{1,1000}[0-9]{1,1000}' }];
    const { status, json } = await service.call('PATCH', '/v1/workspaces/default', { settings: { redaction: { patterns } } });
    expect([status, json.issues]).toEqual([
      422,
      [{ path: 'settings.redaction.patterns[0].pattern', message: expect.stringContaining('has 4000 states when it is compiled') }],
    ]);
  });
});

describe('computed seconds', () => {
  const keyWith = async (limits: object) => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'limited', scopes: ['chat', 'tools'], limits });
    return { id: json.id as string, headers: { authorization: `Bearer ${json.key}` } };
  };
  const used = async (of: string, name: string): Promise<number> => {
    const { json } = await service.call('GET', `/v1/limits?of=${of}&name=${name}`);
    return json.items.find(({ limit }: { limit: string }) => limit === 'sandboxSecondsPerMinute')?.used ?? 0;
  };
  const chain = 'a=:; b=\'eval "$a;$a;$a;$a;$a"\'; c=\'eval "$b;$b;$b;$b;$b"\'; d=\'eval "$c;$c;$c;$c;$c"\'; while :; do eval "$d"; done';

  it('of scripts count for the limit, and the next script is refused', async () => {
    const { id, headers } = await keyWith({ sandboxSecondsPerMinute: 0.05 });
    const run = async (): Promise<string> => {
      const call = { name: 'bash', arguments: { command: chain } };
      const { json } = await service.call('POST', '/v1/toolsets/shell/calls', call, headers);
      expect(json.isError).toBe(true);
      return json.content[0].text;
    };
    expect(await run()).toContain('too many commands executed');
    await vi.waitFor(async () => expect(await run()).toMatch(/^The limit sandboxSecondsPerMinute of the key .* is reached/), waiting);
    expect(await used('key', id)).toBeGreaterThanOrEqual(0);
  });

  it('of scripts in turns count for the agent and the workspace', async () => {
    await service.call('PUT', '/v1/agents/scripter', {
      ...{ model: 'rehearsal/default', toolset: 'shell', limits: { sandboxSecondsPerMinute: 100 } },
    });
    await service.call('PATCH', '/v1/workspaces/default', { settings: { limits: { sandboxSecondsPerMinute: 100 } } });
    const { headers } = await keyWith({ sandboxSecondsPerMinute: 100 });
    const session = (await service.call('POST', '/v1/sessions', { agent: 'scripter' }, headers)).json.id;
    // Repeated, since the minute may end in between.
    await vi.waitFor(async () => {
      await service.call('POST', `/v1/sessions/${session}/turns`, { input: `/bash ${JSON.stringify({ command: chain })}` }, headers);
      expect(await used('agent', 'scripter')).toBeGreaterThan(0);
      expect(await used('workspace', 'default')).toBeGreaterThan(0);
    }, waiting);
    await service.call('PATCH', '/v1/workspaces/default', { settings: { limits: null } });
  });

  it('of redaction count for the limit', async () => {
    await service.call('PATCH', '/v1/workspaces/default', { settings: { redaction: { rules: ['email', 'ip', 'card'] } } });
    const { id, headers } = await keyWith({ sandboxSecondsPerMinute: 100 });
    const call = { name: 'read_report', arguments: { text: 'plain' } };
    await vi.waitFor(async () => {
      await service.call('POST', '/v1/toolsets/reports/calls', call, headers);
      expect(await used('key', id)).toBeGreaterThan(0.01);
    }, waiting);
  });
});

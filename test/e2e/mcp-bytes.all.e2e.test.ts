/**
 * Text passes unchanged: what a client gets through a toolset is compared with what it gets from the server directly, for every code point of
 * all planes of Unicode, and for the surrogates without a pair, which JSON can carry as escapes. In results, errors, resources (also the
 * page of an MCP app) and prompts, in both eras, and over REST.
 */
import type { Client } from '@modelcontextprotocol/client';
import { ProtocolError } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer, type FakeTool, type McpServerParts } from '../fakes/mcp-server.ts';
import { connectBoth, errorOf, offerAll } from './mcp-through.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const eras = ['legacy', 'pinned'] as const;

/** Code points of one request: as UTF-16, what an error message may have. */
const pieceSize = 0x8000;
const pieces = Array.from({ length: 0x110000 / pieceSize }, (_, index) => index);

function textOf(piece: number): string {
  const codes = Array.from({ length: pieceSize }, (_, index) => piece * pieceSize + index);
  // Each with a neighbor, so that surrogates do not form pairs.
  const isLone = (code: number): boolean => code >= 0xd800 && code < 0xe000;
  return codes.map((code) => (isLone(code) ? `${String.fromCharCode(code)} ` : String.fromCodePoint(code))).join('');
}

const special =
  'BOM \ufeff CRLF \r\n CR \r ANSI \u001b[31mred\u001b[0m \u001b]0;t\u0007 soft\u00adhyphen \u200frtl \u202e ❤\ufe0f \u{e0100} \u{e0041} \u0000 \u2028';
const textAt = (at: string): string => (at === 'special' ? special : textOf(Number(at)));
const page = (text: string): string => `<!doctype html><script>const table = "${text}";</script>`;

const inputSchema = { type: 'object', properties: { at: { type: 'string' } } };
const tools: FakeTool[] = [
  {
    name: 'say',
    inputSchema,
    answer: ({ at }) => {
      const text = textAt(String(at));
      const resource = { uri: 'file:///a', text };
      return {
        content: [
          { type: 'text', text },
          { type: 'resource', resource },
        ],
        structuredContent: { [`member ${text}`]: text },
      };
    },
  },
  {
    name: 'fail',
    inputSchema,
    answer: ({ at }) => {
      throw new ProtocolError(-32_050, textAt(String(at)), { text: textAt(String(at)) });
    },
  },
];
const app = { name: 'view', uri: 'ui://app/view.html', mimeType: 'text/html;profile=mcp-app' };
const parts: McpServerParts = {
  tools,
  prompts: [{ name: 'ask', description: special, arguments: [{ name: 'at', description: special }] }],
  resources: [{ name: 'text', uri: 'text:', description: special, title: special }, app],
  resourceTemplates: [
    { name: 'texts', uriTemplate: 'text:{at}' },
    { name: 'pages', uriTemplate: 'page:{at}' },
  ],
  prompt: (_name, { at = '' }) => ({ description: textAt(at), messages: [{ role: 'user', content: { type: 'text', text: textAt(at) } }] }),
  read: (uri) => {
    const [scheme, at = ''] = uri.split(':');
    const text = textAt(at);
    return scheme === 'page' ? { mimeType: app.mimeType, text: page(text), extra: 1 } : { text, mimeType: 'text/plain' };
  },
};

/** Members that a toolset adds, or that belong to one exchange. */
function bare(result: unknown): unknown {
  const { _meta, isError = false, ...rest } = result as Record<string, unknown>;
  return { isError, ...rest };
}

const requests: Record<string, (client: Client, at: string) => Promise<unknown>> = {
  'the result of a tool': (client, at) => client.callTool({ name: 'say', arguments: { at } }),
  'the error of a tool': (client, at) => errorOf(client.callTool({ name: 'fail', arguments: { at } })),
  'a resource': (client, at) => client.readResource({ uri: `text:${at}` }),
  'the page of an MCP app': (client, at) => client.readResource({ uri: `page:${at}` }),
  'a prompt': (client, at) => client.getPrompt({ name: 'ask', arguments: { at } }),
};

describe.each(eras)('a client of the era %s and the bytes of the server', (era) => {
  const name = `bytes-${era}`;
  let fake: FakeMcpServer;
  let direct: Client;
  let through: Client;
  beforeAll(async () => {
    fake = await listenMcpServer({ ...parts, eras: era === 'legacy' ? 'legacy' : 'modern' });
    await offerAll(service, name, fake.url);
    ({ direct, through } = await connectBoth(service, name, fake.url, { era }));
  });
  afterAll(async () => {
    await Promise.all([direct.close(), through.close()]);
    await fake.close();
  });

  it.each(Object.entries(requests))('gets them in %s', async (_what, send) => {
    const own = JSON.stringify(bare(await send(direct, 'special')));
    expect(own).toContain(JSON.stringify(special).slice(1, -1));
    expect(JSON.stringify(bare(await send(through, 'special')))).toBe(own);
    for (const piece of pieces) {
      const [expected, got] = [bare(await send(direct, String(piece))), bare(await send(through, String(piece)))];
      // Compared as text first: a difference of 32,768 characters would be printed.
      if (JSON.stringify(got) !== JSON.stringify(expected))
        expect.fail(`differs within U+${(piece * pieceSize).toString(16)} and the next`);
    }
  });

  it('gets them in lists of prompts and resources', async () => {
    const { _meta: _own, ...prompts } = await direct.listPrompts();
    expect(await through.listPrompts()).toMatchObject({ prompts: prompts.prompts });
    const { resources } = await direct.listResources();
    expect(await through.listResources()).toMatchObject({ resources });
  });

  it('gets them over REST', async () => {
    for (const at of ['special', ...pieces.map(String)]) {
      const { json } = await service.call('POST', `/v1/toolsets/${name}/calls`, { name: 'say', arguments: { at } });
      expect([at, json.content[0].text === textAt(at), json.structuredContent[`member ${textAt(at)}`] === textAt(at)]).toEqual([
        at,
        true,
        true,
      ]);
    }
    const { json } = await service.call('POST', `/v1/toolsets/${name}/calls`, { name: 'fail', arguments: { at: 'special' } });
    expect(json.content[0].text).toContain(special);
  });
});

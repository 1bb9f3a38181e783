import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type ApiCall, jsonError, toCall, withStream } from '../../src/console/pages/docs/call.ts';
import type { ApiOperation } from '../../src/console/pages/docs/reference.ts';
import { pythonValue, shellQuote, snippetsOf } from '../../src/console/pages/docs/snippets.ts';

const origin = 'http://127.0.0.1:8787';
const body = '{"text": "it\'s $HOME `id` \\\\ \\"quoted\\"\\n", "stream": true, "none": null}';
const call: ApiCall = {
  method: 'POST',
  url: '/v1/chat/completions?x=1&y=2',
  headers: [['content-type', 'application/json']],
  body,
  needsKey: true,
};

/** The arguments that a shell passes to the command of a snippet. */
function argumentsIn(script: string, environment: Record<string, string> = {}): string[] {
  const output = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${script}`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...environment },
  });
  return output.split('\0').slice(0, -1);
}

const codeOf = (name: string, key: string, given = call): string =>
  snippetsOf(given, origin, key).find((snippet) => snippet.name === name)?.code ?? '';

describe('curl', () => {
  it('passes every argument through a shell unchanged', () => {
    const expected = [
      '-N',
      `${origin}${call.url}`,
      '-H',
      "authorization: Bearer it's $KEY",
      '-H',
      'content-type: application/json',
      '--data-raw',
      call.body,
    ];
    expect(argumentsIn(codeOf('curl', "it's $KEY"))).toEqual(expected);
  });

  it('reads the key from the environment if none is set', () => {
    expect(argumentsIn(codeOf('curl', ''), { MONIKER_KEY: 'secret' })).toContain('authorization: Bearer secret');
  });

  it('names the method where curl would use another', () => {
    expect(codeOf('curl', '', { ...call, method: 'GET', body: null })).not.toContain('-X');
    expect(codeOf('curl', '', { ...call, method: 'POST', body: null })).toContain('-X POST');
    expect(codeOf('curl', '', { ...call, method: 'DELETE', body: null })).toContain('-X DELETE');
  });

  it('sends a file by its name', () => {
    const sent = { ...call, body: new File(['x'], "it's a file.zip") };
    expect(argumentsIn(codeOf('curl', '', sent)).slice(-2)).toEqual(['--data-binary', "@it's a file.zip"]);
    expect(codeOf('Python', '', sent)).toContain('data=open("it\'s a file.zip", "rb"),');
  });

  it.each(['', "'", 'a b', '$(id)', '`id`', '\\', 'a\nb', '*', '~', '!x'])('quotes %j', (text) => {
    expect(argumentsIn(`curl ${shellQuote(text)}`)).toEqual([text]);
  });
});

describe('JavaScript', () => {
  it('sends the same request', async () => {
    const sent: { url: string; init: RequestInit }[] = [];
    const fake = async (url: string, init: RequestInit) => {
      sent.push({ url, init });
      return new Response('data: 1\n\n');
    };
    const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => undefined) as { constructor: FunctionConstructor };
    await AsyncFunction('fetch', 'console', codeOf('JavaScript', "it's \\ a key"))(fake, { log: () => undefined });
    expect(sent[0]?.url).toBe(origin + call.url);
    expect(sent[0]?.init.headers).toEqual({ authorization: "Bearer it's \\ a key", 'content-type': 'application/json' });
    expect(JSON.parse(String(sent[0]?.init.body))).toEqual(JSON.parse(body));
  });
});

describe('Python', () => {
  it('writes JSON as literals', () => {
    expect(pythonValue({ a: [true, false, null, 1.5, 'x'], b: {}, c: [] })).toBe(
      '{\n    "a": [\n        True,\n        False,\n        None,\n        1.5,\n        "x",\n    ],\n    "b": {},\n    "c": [],\n}',
    );
  });

  it('uses the SDKs of OpenAI and Anthropic for their paths', () => {
    expect(codeOf('OpenAI SDK', 'key')).toContain(
      `client = OpenAI(base_url="${origin}/v1", api_key="key")\nresult = client.chat.completions.create(`,
    );
    const messages = snippetsOf({ ...call, url: '/v1/messages' }, origin, '').find(({ name }) => name === 'Anthropic SDK');
    expect(messages?.code).toContain(`client = Anthropic(base_url="${origin}", api_key=os.environ["MONIKER_KEY"])`);
    expect(snippetsOf({ ...call, url: '/v1/toolsets' }, origin, '').map(({ name }) => name)).toEqual(['curl', 'JavaScript', 'Python']);
  });
});

const operation: ApiOperation = {
  ...{ id: 'putFile', method: 'put', path: '/v1/sessions/{id}/files/{path}', tag: 'Sessions', summary: '', description: '' },
  ...{ scopes: [], security: ['bearer'], responses: [['200', { content: { 'application/json': {}, 'text/event-stream': {} } }]] },
  parameters: [
    { name: 'id', in: 'path', required: true },
    { name: 'path', in: 'path', required: true },
    { name: 'dry run', in: 'query' },
    { name: 'if-match', in: 'header' },
  ],
  requestBody: { content: { 'application/json': {} } },
};

describe('toCall', () => {
  const values = { 'path:id': 'a/b $&', 'path:path': 'folder/a b.txt', 'query:dry run': 'x&y', 'header:if-match': '"1"' };

  it('encodes the parameters, and keeps slashes in the path of a file', () => {
    expect(toCall(operation, { values, body: '{}', contentType: 'application/json', file: null, stream: true })).toEqual({
      method: 'PUT',
      url: '/v1/sessions/a%2Fb%20%24%26/files/folder/a%20b.txt?dry+run=x%26y',
      headers: [
        ['if-match', '"1"'],
        ['content-type', 'application/json'],
        ['accept', 'text/event-stream'],
      ],
      body: '{}',
      needsKey: true,
    });
  });

  it('omits empty parameters', () => {
    const sent = toCall(operation, { values: { 'path:id': 'a' }, body: null, contentType: '', file: null, stream: false });
    expect([sent.url, sent.headers]).toEqual(['/v1/sessions/a/files/{path}', []]);
  });
});

describe('the body', () => {
  it('gains and loses `stream`, unless it is not a JSON object', () => {
    expect(JSON.parse(withStream('{"model": "m"}', true))).toEqual({ model: 'm', stream: true });
    expect(JSON.parse(withStream('{"model": "m", "stream": true}', false))).toEqual({ model: 'm' });
    expect(withStream('{"model"', true)).toBe('{"model"');
    expect(withStream('[1]', true)).toBe('[1]');
  });

  it('reports the line of an error', () => {
    expect(jsonError('{"a": 1}')).toBeNull();
    expect(jsonError('{\n  "a": 1,\n  b\n}')).toMatch(/^The body is not valid JSON: .*line 3/);
  });
});

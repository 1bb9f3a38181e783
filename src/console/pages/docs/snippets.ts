/** The request as code to paste: curl, JavaScript, Python, and the SDKs of OpenAI and Anthropic for their paths. */
import type { CodeLanguage } from '../../parts/text/highlight.ts';
import type { ApiCall } from './call.ts';
import { jsonIn } from '../../text/json.ts';

export type Snippet = { name: string; language: CodeLanguage; code: string };

/** `key`: '' means that the snippets read it from the environment variable MONIKER_KEY. */
export function snippetsOf(call: ApiCall, origin: string, key: string): Snippet[] {
  const sdk = sdkSnippet(call, origin, key);
  return [
    { name: 'curl', language: 'shell', code: curlSnippet(call, origin, key) },
    { name: 'JavaScript', language: 'javascript', code: javascriptSnippet(call, origin, key) },
    ...(sdk === null ? [] : [sdk]),
    { name: 'Python', language: 'python', code: pythonSnippet(call, origin, key) },
  ];
}

const isStream = ({ headers, body }: ApiCall): boolean =>
  headers.some(([name, value]) => name === 'accept' && value === 'text/event-stream') ||
  (typeof body === 'string' && /"stream":\s*true/.test(body));

export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function curlSnippet(call: ApiCall, origin: string, key: string): string {
  const { method, url, headers, body, needsKey } = call;
  const isDefault = method === (body === null ? 'GET' : 'POST');
  const authorization = key === '' ? '"authorization: Bearer $MONIKER_KEY"' : shellQuote(`authorization: Bearer ${key}`);
  return [
    `curl${isStream(call) ? ' -N' : ''}${isDefault ? '' : ` -X ${method}`} ${shellQuote(origin + url)}`,
    ...(needsKey ? [`-H ${authorization}`] : []),
    ...headers.map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    // `--data-raw` does not read a file for a leading @.
    ...(body === null
      ? []
      : [typeof body === 'string' ? `--data-raw ${shellQuote(body)}` : `--data-binary ${shellQuote(`@${body.name}`)}`]),
  ].join(' \\\n  ');
}

function javascriptSnippet(call: ApiCall, origin: string, key: string): string {
  const { method, url, headers, body, needsKey } = call;
  const quote = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is a part of the snippet
  const token = key === '' ? '`Bearer ${process.env.MONIKER_KEY}`' : quote(`Bearer ${key}`);
  const property = (name: string): string => (/^\w+$/.test(name) ? name : quote(name));
  const lines = [...(needsKey ? [`authorization: ${token}`] : []), ...headers.map(([name, value]) => `${property(name)}: ${quote(value)}`)];
  const value = typeof body === 'string' ? jsonIn(body) : undefined;
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines.map((line) => `    ${line},`), '  },']),
    ...(body === null
      ? []
      : [
          `  body: ${typeof body !== 'string' ? `await readFile(${quote(body.name)})` : value === undefined ? quote(body) : `JSON.stringify(${indent(JSON.stringify(value, null, 2), 2)})`},`,
        ]),
  ];
  const request = options.length === 0 ? `fetch(${quote(origin + url)})` : `fetch(${quote(origin + url)}, {\n${options.join('\n')}\n})`;
  const read = isStream(call)
    ? 'for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {\n  console.log(chunk);\n}'
    : 'console.log(response.status, await response.text());';
  const imports = body instanceof File ? "import { readFile } from 'node:fs/promises';\n\n" : '';
  return `${imports}const response = await ${request};\n${read}`;
}

function pythonSnippet(call: ApiCall, origin: string, key: string): string {
  const { method, url, headers, body, needsKey } = call;
  const value = typeof body === 'string' ? jsonIn(body) : undefined;
  const sendsJson = value !== undefined;
  const shown = headers.filter(([name]) => !(sendsJson && name === 'content-type'));
  const lines = [
    ...(needsKey ? [`"authorization": ${key === '' ? 'f"Bearer {os.environ[\'MONIKER_KEY\']}"' : pythonText(`Bearer ${key}`)}`] : []),
    ...shown.map(([name, text]) => `${pythonText(name)}: ${pythonText(text)}`),
  ];
  const options = [
    ...(lines.length === 0 ? [] : ['    headers={', ...lines.map((line) => `        ${line},`), '    },']),
    ...(sendsJson ? [`    json=${indent(pythonValue(value), 4)},`] : []),
    ...(body !== null && !sendsJson
      ? [`    data=${typeof body === 'string' ? pythonText(body) : `open(${pythonText(body.name)}, "rb")`},`]
      : []),
    ...(isStream(call) ? ['    stream=True,'] : []),
  ];
  const read = isStream(call)
    ? 'for line in response.iter_lines():\n    print(line.decode())'
    : 'print(response.status_code, response.text)';
  const imports = needsKey && key === '' ? 'import os\nimport requests' : 'import requests';
  return `${imports}\n\nresponse = requests.${method.toLowerCase()}(\n    ${pythonText(origin + url)},\n${options.map((line) => `${line}\n`).join('')})\n${read}`;
}

const sdkCalls: Readonly<Record<string, { client: 'OpenAI' | 'Anthropic'; call: string }>> = {
  'POST /v1/chat/completions': { client: 'OpenAI', call: 'chat.completions.create' },
  'POST /v1/responses': { client: 'OpenAI', call: 'responses.create' },
  'GET /v1/models': { client: 'OpenAI', call: 'models.list' },
  'POST /v1/messages': { client: 'Anthropic', call: 'messages.create' },
  'POST /v1/messages/count_tokens': { client: 'Anthropic', call: 'messages.count_tokens' },
};

function sdkSnippet(call: ApiCall, origin: string, key: string): Snippet | null {
  const found = sdkCalls[`${call.method} ${call.url.split('?')[0]}`];
  const value = call.body === null ? {} : typeof call.body === 'string' ? jsonIn(call.body) : null;
  if (found === undefined || typeof value !== 'object' || value === null) return null;
  const { client, call: method } = found;
  const secret = key === '' ? 'os.environ["MONIKER_KEY"]' : pythonText(key);
  // The client of Anthropic adds `/v1` itself.
  const base = client === 'OpenAI' ? `${origin}/v1` : origin;
  const fields = Object.entries(value).map(([name, field]) => `    ${name}=${indent(pythonValue(field), 4)},\n`);
  const code = [
    `${key === '' ? 'import os\n' : ''}from ${client.toLowerCase()} import ${client}`,
    '',
    `client = ${client}(base_url=${pythonText(base)}, api_key=${secret})`,
    `result = client.${method}(${fields.length === 0 ? '' : `\n${fields.join('')}`})`,
    isStream(call) ? 'for event in result:\n    print(event)' : 'print(result)',
  ].join('\n');
  return { name: `${client} SDK`, language: 'python', code };
}

function pythonText(text: string): string {
  return JSON.stringify(text);
}

/** JSON as a Python literal. */
export function pythonValue(value: unknown, depth = 0): string {
  const pad = '    '.repeat(depth + 1);
  const end = '    '.repeat(depth);
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map((item) => pythonValue(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${pythonText(name)}: ${pythonValue(item, depth + 1)}`);
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  return items.length === 0 ? open + close : `${open}\n${items.map((item) => `${pad}${item},\n`).join('')}${end}${close}`;
}

function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}

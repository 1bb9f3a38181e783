/** Asks an HTTP server through the guarded way out, and shows the answer as text. */
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import type { ToolResult } from '../core/tool.ts';
import { checkModelHeaders } from '../net/headers.ts';
import { readBounded } from '../net/read-bounded.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const httpRequest = defineTool({
  name: 'http_request',
  description:
    'Sends an HTTP request to a public server and answers status, headers and body as text. Follows redirects. Error statuses are answers too. Bodies that are not text are described, not shown.',
  input: z.object({
    url: z.string().min(1).max(limits.maxUrlLength).describe('Absolute http or https URL'),
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    body: z
      .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .optional()
      .describe('Text as it stands, or an object or array that is sent as JSON'),
    headers: z.record(z.string(), z.string()).optional().describe('Such as {"accept": "application/json"}. Credentials cannot be set here'),
  }),
  annotations: { title: 'Send an HTTP request', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  isSafe: ({ method }) => method === undefined || method === 'GET' || method === 'HEAD',
  async run({ url, method, body, headers = {} }, { fetch, idempotencyKey }) {
    const faults = checkModelHeaders(headers);
    if (faults.length > 0) throw new ToolFault(`Not sent: ${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}.`);
    if (body !== undefined && (method === 'GET' || method === 'HEAD'))
      throw new ToolFault(`Not sent: ${method} takes no body. Use POST, or put it into the URL.`);
    const request = toRequest(url, method, body, headers);
    // Sent with every try of this call, so that a server that knows the header does it once.
    if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', idempotencyKey);
    const response = await fetch(request);
    return await toResult(response, method);
  },
});

function toRequest(url: string, method: string, body: unknown, headers: Record<string, string>): Request {
  // Judged on the parsed form by the way out; here it only has to be a URL at all.
  if (!URL.canParse(url))
    throw new ToolFault(`Not sent: ${JSON.stringify(url.slice(0, 100))} is not an absolute URL such as https://example.com/path.`);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') throw new ToolFault('Not sent: a URL with a user name or password in it is refused.');
  const final = new Headers(headers);
  if (!final.has('user-agent')) final.set('user-agent', 'moniker');
  const isText = body === undefined || typeof body === 'string';
  if (!isText && !final.has('content-type')) final.set('content-type', 'application/json');
  return new Request(url, { method, headers: final, ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }) });
}

/** What helps a model; cookies and the rest of the upstream's headers stay out. */
const shownHeaders = [
  'content-type',
  'content-length',
  'location',
  'etag',
  'last-modified',
  'link',
  'retry-after',
  'allow',
  'www-authenticate',
];

async function toResult(response: Response, method: string): Promise<ToolResult> {
  const { bytes, truncated } = await readBounded(response, limits.maxOutboundBodyBytes);
  const type = response.headers.get('content-type') ?? '';
  const headers = shownHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value.slice(0, 1000)] as const];
  });
  const head = [`HTTP ${response.status} ${response.statusText}`.trimEnd(), ...headers.map(([name, value]) => `${name}: ${value}`)].join(
    '\n',
  );
  const text = method === 'HEAD' ? '' : bodyText(bytes, type);
  const note = truncated ? `\n[Only the first ${bytes.byteLength} bytes of the body were read.]` : '';
  return {
    isError: false,
    content: [{ type: 'text', text: `${head}\n\n${text}${note}`.trimEnd() }],
    structuredContent: { status: response.status, headers: Object.fromEntries(headers), bytes: bytes.byteLength, truncated },
  };
}

function bodyText(bytes: Uint8Array, type: string): string {
  if (isText(type, bytes)) return decoder(type).decode(bytes);
  return `[${bytes.byteLength} bytes of ${type === '' ? 'binary data' : type}, not shown]`;
}

/** By its type, and where that says nothing, by whether it reads as UTF-8 without NULs. */
function isText(type: string, bytes: Uint8Array): boolean {
  if (/^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|graphql|x-ndjson|toml|csv|html)\b/i.test(type)) return true;
  if (type !== '' && !/^application\/octet-stream\b/i.test(type)) return false;
  if (bytes.includes(0)) return false;
  try {
    // A cut may fall inside a character: `stream` forgives an unfinished one at the end.
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes, { stream: true });
    return true;
  } catch {
    // Not UTF-8: the answer is the test's result.
    return false;
  }
}

function decoder(type: string): TextDecoder {
  const charset = /charset="?([\w-]{1,40})/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset);
  } catch {
    // A charset nobody knows: UTF-8 shows at least its ASCII.
    return new TextDecoder();
  }
}

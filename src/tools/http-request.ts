/** `http_request`: sends an HTTP request through the outbound client and returns the response as text. */
import * as z from 'zod';
import { limits } from '../core/limits/limits.ts';
import { textResult, type ToolResult } from '../core/tools/tool.ts';
import { checkModelHeaders } from '../net/headers.ts';
import { readBounded } from '../net/read-bounded.ts';
import { describeBytes, textOf } from '../net/text-body.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { MB } from '../core/limits/units.ts';

/** After decompression. */
const maxOutboundBodyBytes = 1 * MB;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export const httpRequest = defineTool({
  name: 'http_request',
  description:
    'Sends an HTTP request to a public server and returns status, headers and body as text. Follows redirects. HTTP error statuses are returned like any other response. Non-text bodies are described, not shown.',
  input: z.object({
    url: z.string().min(1).max(limits.maxUrlLength).describe('Absolute http or https URL'),
    // Lower case is listed too: calls are checked against the schema before they run.
    method: z.enum([...methods, ...methods.map((method) => method.toLowerCase())]).default('GET'),
    body: z
      .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .optional()
      .describe('Text, sent unchanged, or an object or array, sent as JSON'),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'For example {"accept": "application/json"}. Credential headers are rejected, except authorization in calls that no model makes',
      ),
  }),
  annotations: { title: 'Send an HTTP request', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  usesFiles: false,
  isSafe: ({ method = 'GET' }) => /^(?:GET|HEAD)$/i.test(String(method)),
  async run({ url, method: given, body, headers = {} }, { fetch, idempotencyKey, mayAuthenticate }) {
    const method = given.toUpperCase();
    const faults = checkModelHeaders(headers, mayAuthenticate);
    if (faults.length > 0) throw new ToolFault(`Not sent: ${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}.`);
    if (body !== undefined && (method === 'GET' || method === 'HEAD'))
      throw new ToolFault(`Not sent: ${method} takes no body. Use POST, or put the data into the URL.`);
    const request = toRequest(url, method, body, headers);
    // The same for every attempt of this call, so that a server that supports the header runs it once.
    if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', idempotencyKey);
    const response = await fetch(request);
    return await toResult(response, method);
  },
});

function toRequest(url: string, method: string, body: unknown, headers: Record<string, string>): Request {
  // The outbound client checks the parsed URL; this checks only that the text is a URL.
  if (!URL.canParse(url))
    throw new ToolFault(`Not sent: ${JSON.stringify(url.slice(0, 100))} is not an absolute URL such as https://example.com/path.`);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') throw new ToolFault('Not sent: the URL must not contain a user name or password.');
  const final = new Headers(headers);
  if (!final.has('user-agent')) final.set('user-agent', 'moniker');
  const isText = body === undefined || typeof body === 'string';
  if (!isText && !final.has('content-type')) final.set('content-type', 'application/json');
  return new Request(url, { method, headers: final, ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }) });
}

/** Response headers that help a model. Cookies and all other headers are left out. */
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
  const { bytes, truncated } = await readBounded(response, maxOutboundBodyBytes);
  const type = response.headers.get('content-type') ?? '';
  const headers = shownHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value.slice(0, 1000)] as const];
  });
  const head = [`HTTP ${response.status} ${response.statusText}`.trimEnd(), ...headers.map(([name, value]) => `${name}: ${value}`)].join(
    '\n',
  );
  const text = method === 'HEAD' ? '' : (textOf(bytes, type) ?? describeBytes(bytes, type));
  const note = truncated ? `\n[Only the first ${bytes.byteLength} bytes of the body were read.]` : '';
  return {
    ...textResult(`${head}\n\n${text}${note}`.trimEnd()),
    structuredContent: { status: response.status, headers: Object.fromEntries(headers), bytes: bytes.byteLength, truncated },
  };
}

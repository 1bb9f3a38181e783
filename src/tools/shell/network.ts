/**
 * The shell's `curl` and `wget`: the interpreter's curl over the outbound client, so that policy, bound secrets and the block on private
 * addresses apply as for `http_request`. The outbound client follows redirects and checks each hop.
 */
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { defineCommand, type BashOptions, type Command } from 'just-bash/browser';
import { Problem } from '../../core/problem.ts';
import { checkModelHeaders } from '../../net/headers.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { MB } from '../../core/limits/units.ts';

/** One response to curl: held in memory, and it must fit in a file. */
const maxShellDownloadBytes = 8 * MB;

type Fetch = NonNullable<BashOptions['fetch']>;

/** `sent`: called before each request that is not read-only, with text such as `POST https://…`. */
export function createShellFetch(context: ToolContext, sent: (what: string) => void): Fetch {
  let requests = 0;
  return async (address, { method = 'GET', headers, body, timeoutMs } = {}) => {
    requests += 1;
    const request = toRequest(address, method.toUpperCase(), headers, body);
    // As with `http_request`: the same for every attempt of this call, so that a server that supports the header runs it once.
    if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', `${context.idempotencyKey}.${requests}`);
    if (!isReading(request.method)) sent(`${request.method} ${request.url}`);
    return await within(timeoutMs, async () => {
      const response = await context.fetch(request);
      const { bytes, truncated } = await readBounded(response, maxShellDownloadBytes);
      if (truncated)
        throw new Error(`the response is longer than ${maxShellDownloadBytes} bytes; request a part of it (-H 'Range: bytes=…')`);
      const shown = [...response.headers].filter(([name]) => name !== 'set-cookie');
      return {
        status: response.status,
        statusText: response.statusText,
        headers: Object.fromEntries(shown),
        body: bytes,
        url: response.url || address,
      };
    });
  };
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function toRequest(
  address: string,
  method: string,
  given: Headers | Record<string, string> | undefined,
  body: string | undefined,
): Request {
  // curl prepends `https://` to an argument that does not start with http, so `file:///x` would become a request to a host named file.
  const other = /^https:\/\/([a-z][a-z\d+.-]{0,20}):\/\//i.exec(address)?.[1];
  if (other !== undefined) throw new Error(`the protocol ${other} is not supported, only http and https (lower case)`);
  if (!URL.canParse(address)) throw new Error(`${address.slice(0, 100)} is not a URL`);
  const { protocol, username, password } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`the protocol ${protocol} is not supported, only http and https`);
  if (username !== '' || password !== '') throw new Error('the URL must not contain a user name or password');
  const headers = new Headers(given);
  const faults = checkModelHeaders(Object.fromEntries(headers));
  if (faults.length > 0) throw new Error(`not sent: ${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
  // Bytes that are not UTF-8 are already lost: the interpreter handles only text.
  if (body?.includes('\ufffd') === true) throw new Error('not sent: the body is not UTF-8 text; encode it first (base64)');
  if (!headers.has('user-agent')) headers.set('user-agent', 'moniker');
  try {
    return new Request(address, { method, headers, ...(body !== undefined && !isReading(method) && { body }) });
  } catch {
    // Not a valid method of a request.
    throw new Error(`the method ${method.slice(0, 20)} is not supported`);
  }
}

/** Applies `-m`, if it is shorter than the call's own timeout. A later response is dropped. */
async function within<Value>(timeoutMs: number | undefined, work: () => Promise<Value>): Promise<Value> {
  try {
    if (timeoutMs === undefined) return await work();
    return await withTimeout<Value>(systemClock, work(), timeoutMs, () => {
      throw new Error(`aborted after ${timeoutMs} ms`);
    });
  } catch (error) {
    // The messages are written for callers. curl derives its exit code from "Network access denied".
    if (error instanceof Problem) throw new Error(error.code === 'forbidden' ? `Network access denied: ${error.detail}` : error.detail);
    throw error;
  }
}

/** `wget [-q] [-O file] url`: models use it as often as curl. */
export const wget: Command = defineCommand('wget', async (args, { exec, cwd, signal }) => {
  const plan = wgetPlan(args);
  if (typeof plan === 'string') return { stdout: '', stderr: `wget: ${plan}\n`, exitCode: 2 };
  if (exec === undefined) return { stdout: '', stderr: 'wget: not available here\n', exitCode: 1 };
  return await exec('curl', { cwd, args: plan, ...(signal && { signal }) });
});

/** Returns the arguments for curl, or an error message. */
function wgetPlan(args: readonly string[]): string[] | string {
  let output: string | null = null;
  const urls: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const attached = /^(?:--output-document=|-(?:q|nv)?O)(.*)$/s.exec(arg)?.[1];
    if (attached !== undefined) {
      output = attached === '' ? (args[index + 1] ?? '') : attached;
      if (attached === '') index += 1;
    } else if (arg === '--output-document') {
      output = args[index + 1] ?? '';
      index += 1;
    } else if (!arg.startsWith('-')) urls.push(arg);
    else if (!quiet.has(arg)) return `unsupported option ${arg}; use curl instead`;
  }
  const [url] = urls;
  if (url === undefined || urls.length > 1) return 'give exactly one URL, or use curl';
  const target = output === null ? ['-O'] : output === '-' ? [] : ['-o', output];
  return ['-s', '-S', '-f', '-L', ...target, url];
}

const quiet: ReadonlySet<string> = new Set(['-q', '--quiet', '-nv', '--no-verbose', '-c', '--continue']);

/**
 * `curl` and `wget` of the shell: the interpreter's own curl over the guarded way out, so that policy, bound secrets and the refusal of private
 * addresses are those of `http_request`. Redirects are followed by the way out, each hop judged.
 */
import { defineCommand, type BashOptions, type Command } from 'just-bash/browser';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { checkModelHeaders } from '../../net/headers.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';

type Fetch = NonNullable<BashOptions['fetch']>;

/** `sent`: told of each request that is no mere reading, as `POST https://…`, before it goes. */
export function createShellFetch(context: ToolContext, sent: (what: string) => void): Fetch {
  let requests = 0;
  return async (address, { method = 'GET', headers, body, timeoutMs } = {}) => {
    requests += 1;
    const request = toRequest(address, method.toUpperCase(), headers, body);
    // As with `http_request`: a server that knows the header does it once, however often the call is tried.
    if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', `${context.idempotencyKey}.${requests}`);
    if (!isReading(request.method)) sent(`${request.method} ${request.url}`);
    return await within(timeoutMs, async () => {
      const response = await context.fetch(request);
      const { bytes, truncated } = await readBounded(response, limits.maxShellDownloadBytes);
      if (truncated)
        throw new Error(`the answer is longer than ${limits.maxShellDownloadBytes} bytes; ask for a part of it (-H 'Range: bytes=…')`);
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
  // curl puts `https://` in front of what does not begin with http: `file:///x` would be a request to a host called file.
  const other = /^https:\/\/([a-z][a-z\d+.-]{0,20}):\/\//i.exec(address)?.[1];
  if (other !== undefined) throw new Error(`the protocol ${other} is not supported, only http and https (in small letters)`);
  if (!URL.canParse(address)) throw new Error(`${address.slice(0, 100)} is not a URL`);
  const { protocol, username, password } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error(`the protocol ${protocol} is not supported, only http and https`);
  if (username !== '' || password !== '') throw new Error('a URL with a user name or password in it is refused');
  const headers = new Headers(given);
  const faults = checkModelHeaders(Object.fromEntries(headers));
  if (faults.length > 0) throw new Error(`not sent: ${faults.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
  // Bytes that are no UTF-8 were lost on their way through the interpreter, which knows text only.
  if (body?.includes('\ufffd') === true) throw new Error('not sent: the body is not UTF-8 text; encode it first (base64)');
  if (!headers.has('user-agent')) headers.set('user-agent', 'moniker');
  try {
    return new Request(address, { method, headers, ...(body !== undefined && !isReading(method) && { body }) });
  } catch {
    // A method that no request may have.
    throw new Error(`the method ${method.slice(0, 20)} is not supported`);
  }
}

/** `-m`, where it is shorter than the call's own time. What comes later is dropped. */
async function within<Value>(timeoutMs: number | undefined, work: () => Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = timeoutMs === undefined ? null : setTimeout(() => reject(new Error(`aborted after ${timeoutMs} ms`)), timeoutMs);
  const answer = work();
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, promise]);
  } catch (error) {
    // Written for callers; the words are those from which curl takes its exit code.
    if (error instanceof Problem) throw new Error(error.code === 'forbidden' ? `Network access denied: ${error.detail}` : error.detail);
    throw error;
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
}

/** `wget [-q] [-O file] url`, which models write as often as curl. */
export const wget: Command = defineCommand('wget', async (args, { exec, cwd, signal }) => {
  const plan = wgetPlan(args);
  if (typeof plan === 'string') return { stdout: '', stderr: `wget: ${plan}\n`, exitCode: 2 };
  if (exec === undefined) return { stdout: '', stderr: 'wget: not here\n', exitCode: 1 };
  return await exec('curl', { cwd, args: plan, ...(signal && { signal }) });
});

/** Arguments for curl, or what is wrong with these. */
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
    else if (!quiet.has(arg)) return `unsupported option ${arg}; use curl`;
  }
  const [url] = urls;
  if (url === undefined || urls.length > 1) return 'give one URL, or use curl';
  const target = output === null ? ['-O'] : output === '-' ? [] : ['-o', output];
  return ['-s', '-S', '-f', '-L', ...target, url];
}

const quiet: ReadonlySet<string> = new Set(['-q', '--quiet', '-nv', '--no-verbose', '-c', '--continue']);

/**
 * Forwards the body of a reply and meters it on the way: looks for usage objects in its bytes, without parsing the rest. It is read in joined
 * pieces. (A stream that the runtime pumps, and a copy of which is read, costs as much in bursts and less at a model's pace; but nothing can be
 * written to it while it is silent.)
 */
import { tryParse } from '../../core/json/wire-value.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { CallMeter } from '../../engine/proxy/call-meter.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { SecretFilter } from '../../core/redaction/secret-filter.ts';
import { joinBytes } from '../../core/text/bytes.ts';
import { withTimeout } from '../../engine/timeout.ts';
import type { Problem } from '../../core/problem.ts';
import type { JoinedReader } from '../../net/joined-reader.ts';
import { joinWrites } from '../../engine/joined-stream.ts';
import { isEventStream } from '../../net/sse.ts';
import { createForwardFilter } from '../provider-secrets.ts';
import { timeoutProblem } from '../provider-error.ts';
import { readStarted, type StartedReply } from './reply-start.ts';
import { mergeUsage } from '../wire-usage.ts';

/** A usage object has a few hundred characters. */
const maxUsageCharacters = 8 * 1024;

export type Forwarding = {
  access: ProviderAccess;
  meter: CallMeter;
  readUsage: ((usage: unknown) => Usage | null) | undefined;
  /** Of an event stream for a client that knows its dialect. */
  heartbeat?: string | undefined;
  /** A longer pause ends the stream with an error. Absent: it may pause as long as its client waits. */
  pause?: { maxMs: number; failureText(problem: Problem): string } | undefined;
  clock: Clock;
};

/** Returns the body for the client. */
export async function forwardBody(
  response: Response,
  started: StartedReply,
  forwarding: Forwarding,
): Promise<ReadableStream<Uint8Array> | Uint8Array> {
  const { access, meter, clock } = forwarding;
  const filter = createForwardFilter(access);
  const scan = createUsageScan(forwarding);
  const { head, body } = started;
  if (body === null) {
    meter.begun();
    const bytes = filter === null ? head : joinBytes([filter.push(head), filter.end()]);
    scan.push(bytes);
    scan.end();
    return bytes;
  }
  const heartbeat = isEventStream(response) ? forwarding.heartbeat : undefined;
  return observe(readStarted({ ...started, body }, clock), { ...forwarding, heartbeat }, scan, filter);
}

function observe(
  reader: JoinedReader,
  { access, meter, clock, pause, heartbeat }: Forwarding,
  scan: UsageScan,
  filter: SecretFilter | null,
): ReadableStream<Uint8Array> {
  const scanned = (bytes: Uint8Array): Uint8Array => {
    scan.push(bytes);
    return bytes;
  };
  let isLate = false;
  const readInTime = async ({ maxMs, failureText }: NonNullable<Forwarding['pause']>): ReturnType<JoinedReader['read']> => {
    if (isLate) return { done: true };
    const read = await withTimeout(clock, reader.read(), maxMs, () => null);
    if (read !== null) return read;
    isLate = true;
    meter.end('upstream_timeout', true);
    reader.cancel().catch(() => undefined);
    const problem = timeoutProblem(access, 'stopped sending in the middle of its reply');
    return { done: false, value: new TextEncoder().encode(`\n\n${failureText(problem)}`) };
  };
  return joinWrites(
    {
      heartbeat,
      next: () => (pause === undefined ? reader.read() : readInTime(pause)),
      piece: ({ value }) => value ?? null,
      join(pieces) {
        const [first] = pieces;
        const bytes = pieces.length === 1 && first !== undefined ? first : joinBytes(pieces);
        return scanned(filter === null ? bytes : filter.push(bytes));
      },
      end() {
        const rest = filter === null ? new Uint8Array(0) : scanned(filter.end());
        scan.end();
        return rest;
      },
      fail: () => meter.end('upstream_error'),
      async cancel(reason) {
        meter.cut();
        await reader.cancel(reason);
      },
    },
    clock,
  );
}

type UsageScan = { push(bytes: Uint8Array): void; end(): void };

/**
 * Finds the values of members called `usage` or `usageMetadata` in JSON or in a stream of it. In a text of the reply the quotes of such a member are escaped.
 */
function createUsageScan({ meter, readUsage }: Pick<Forwarding, 'meter' | 'readUsage'>): UsageScan {
  const decoder = new TextDecoder();
  let counts: Record<string, unknown> = {};
  let left = '';
  let failed = false;
  let hasOutput = false;
  const read = (text: string): void => {
    // Its first character is literal, so that the engine can search for it; a look-behind would be tried everywhere.
    const pattern = /"usage(?:Metadata)?"\s*:\s*\{/g;
    let done = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (text[match.index - 1] === '\\') continue;
      const start = match.index + match[0].length - 1;
      const end = endOfObject(text, start);
      if (end === null) {
        // Its rest is in the next piece.
        left = text.length - match.index <= maxUsageCharacters ? text.slice(match.index) : '';
        return;
      }
      const value = tryParse(text.slice(start, end));
      counts = mergeUsage(counts, value);
      done = end;
    }
    left = text.slice(Math.max(done, text.length - overlap));
  };
  return {
    push(bytes) {
      meter.begun();
      const text = left + decoder.decode(bytes, { stream: true });
      const failure = failed ? null : errorEvent.exec(text);
      failed ||= failure !== null;
      hasOutput ||= /(?:^|\n)data: ?\S/.test(failure === null ? text : text.slice(0, failure.index));
      read(text);
    },
    end() {
      const usage = readUsage?.(counts) ?? null;
      if (usage !== null) meter.usage(usage);
      if (failed) meter.end('upstream_error', hasOutput);
      else meter.end();
    },
  };
}

/** Longer than `"usage" : {` and the beginning of an error event. */
const overlap = 32;
/** An error in a stream of status 200: OpenAI's and Anthropic's form. */
const errorEvent = /(?:^|\n)(?:event: ?(?:error|response\.failed)\s|data: ?\{\s*"error"\s*:\s*[{"])/;

/** Returns the index after the object's end; null: it is not in this text. Names and values of usage objects have no braces. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  for (let index = start; index < text.length && index - start < maxUsageCharacters; index += 1) {
    if (text[index] === '{') depth += 1;
    else if (text[index] === '}') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return null;
}

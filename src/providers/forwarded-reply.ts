/**
 * Forwards the body of a reply and meters it on the way: looks for usage objects in its bytes, without parsing the rest. The runtime itself
 * pumps streams (`pumped-body.ts`); one that reports no usage and is not watched is only passed on. A stream that is searched for the
 * provider's key is read in JavaScript, in joined pieces.
 */
import { isRecord, tryParse } from '../core/json/wire-value.ts';
import type { Usage } from '../core/model/chat-event.ts';
import { MB } from '../core/limits/units.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { CallMeter } from '../engine/proxy/call-meter.ts';
import type { Clock } from '../ports/runtime.ts';
import type { SecretFilter } from '../core/policy/secret-filter.ts';
import { joinBytes } from '../core/text/bytes.ts';
import { joinWrites } from '../engine/joined-stream.ts';
import { createJoinedReader } from '../net/joined-reader.ts';
import { declaredBytes } from '../net/read-bounded.ts';
import { isEventStream } from '../net/sse.ts';
import { createForwardFilter } from './provider-secrets.ts';
import { pumpBody } from './pumped-body.ts';

/** A reply of known length up to this is read at once: cheaper than a stream, which even looking at its `body` would make. */
const maxWholeBytes = 1 * MB;
/** A usage object has a few hundred characters. */
const maxUsageCharacters = 8 * 1024;

export type Forwarding = {
  access: ProviderAccess;
  meter: CallMeter;
  readUsage: ((usage: unknown) => Usage | null) | undefined;
  /** False: the reply is a stream that will report no usage, so it is not looked at, and counts as soon as it begins. */
  reportsUsage: boolean;
  /**
   * Aborts the exchange with the provider. Present if a stream was requested and the key of the request is checked again while it is open
   * (`key-watch.ts`), which may end it.
   */
  exchange?: AbortController | undefined;
  clock: Clock;
  background(work: Promise<unknown>): void;
};

/** Returns the body for the client. */
export async function forwardBody(response: Response, forwarding: Forwarding): Promise<ReadableStream<Uint8Array> | Uint8Array | null> {
  const { access, meter, clock, background } = forwarding;
  const filter = createForwardFilter(access);
  const scan = createUsageScan(forwarding);
  if (declaredBytes(response.headers) <= maxWholeBytes) {
    meter.begun();
    const received = new Uint8Array(await response.arrayBuffer());
    const bytes = filter === null ? received : joinBytes([filter.push(received), filter.end()]);
    scan.push(bytes);
    scan.end();
    return bytes;
  }
  const { body } = response;
  if (body === null) {
    meter.end();
    return null;
  }
  // The runtime pumps only what it reads from the network itself: not the rehearsal, and not a stream with a filter.
  const isNative = typeof IdentityTransformStream !== 'undefined' && access.kind !== 'rehearsal' && filter === null;
  if (!isNative) return observe(body, forwarding, scan, filter);
  const exchange = isEventStream(response) ? forwarding.exchange : undefined;
  if (exchange === undefined && !forwarding.reportsUsage) {
    meter.begun();
    meter.end();
    return body;
  }
  return pumpBody(body, { ...scan, cut: () => meter.cut(), clock, background, exchange });
}

function observe(
  body: ReadableStream<Uint8Array>,
  { meter, clock }: Forwarding,
  scan: UsageScan,
  filter: SecretFilter | null,
): ReadableStream<Uint8Array> {
  const reader = createJoinedReader(body, clock);
  const scanned = (bytes: Uint8Array): Uint8Array => {
    scan.push(bytes);
    return bytes;
  };
  return joinWrites(
    {
      next: () => reader.read(),
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
 * Finds the values of members called `usage` in JSON or in a stream of it. In a text of the reply the quotes of such a member are escaped. The
 * counts of later objects replace those of earlier ones: Anthropic's API splits them (`message_start`, `message_delta`).
 */
function createUsageScan({ meter, readUsage }: Pick<Forwarding, 'meter' | 'readUsage'>): UsageScan {
  const decoder = new TextDecoder();
  let counts: Record<string, unknown> = {};
  let left = '';
  let failed = false;
  let hasOutput = false;
  const read = (text: string): void => {
    // Its first character is literal, so that the engine can search for it; a look-behind would be tried everywhere.
    const pattern = /"usage"\s*:\s*\{/g;
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
      if (isRecord(value)) counts = { ...counts, ...definedCounts(value) };
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

/** A null replaces no count. */
function definedCounts(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, count]) => count !== null));
}

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

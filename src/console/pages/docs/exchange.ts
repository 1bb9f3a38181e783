/** Sends a request of the tester and reads its response piece by piece, within bounds. */
import { signal } from '@preact/signals';
import { createParser, type ServerSentEvent } from '../../../../client/src/sse.ts';
import { addedText } from '../../api/event-stream.ts';
import { send } from '../../api/request.ts';
import type { ApiCall } from './call.ts';

export type ExchangeState = {
  phase: 'idle' | 'sending' | 'receiving' | 'done' | 'stopped' | 'failed';
  /** The reason when `phase` is `failed`. */
  error: string;
  status: number;
  statusText: string;
  /** To the response headers, and to the end of the body. */
  firstByteMs: number;
  totalMs: number;
  headers: [name: string, value: string][];
  kind: 'text' | 'events' | 'binary';
  /** Received so far. */
  bytes: number;
  text: string;
  /** Whether `text` or `events` lack what was received later. */
  isCut: boolean;
  events: ServerSentEvent[];
  eventCount: number;
  /** The text that the events of a chat stream add up to. */
  streamedText: string;
};

/** More would make the page slow. The rest is counted but not shown. */
const maxShownCharacters = 200_000;
const maxShownEvents = 500;

const idle: ExchangeState = {
  phase: 'idle',
  error: '',
  status: 0,
  statusText: '',
  firstByteMs: 0,
  totalMs: 0,
  headers: [],
  kind: 'text',
  bytes: 0,
  text: '',
  isCut: false,
  events: [],
  eventCount: 0,
  streamedText: '',
};

export function createExchange() {
  const state = signal(idle);
  let running: AbortController | null = null;
  const update = (change: Partial<ExchangeState>) => (state.value = { ...state.value, ...change });
  const stop = (): void => running?.abort();

  /** Resolves when the exchange has ended, in whatever way. */
  const run = async ({ method, url, headers, body, needsKey }: ApiCall, key: string): Promise<void> => {
    stop();
    const controller = new AbortController();
    running = controller;
    state.value = { ...idle, phase: 'sending' };
    const started = performance.now();
    const elapsed = (): number => performance.now() - started;
    try {
      const authorization: [string, string][] = needsKey && key !== '' ? [['authorization', `Bearer ${key}`]] : [];
      const response = await send({ method, url, headers: [...authorization, ...headers], body, signal: controller.signal });
      const kind = kindOf(response.headers.get('content-type') ?? '');
      const { status, statusText } = response;
      update({ phase: 'receiving', status, statusText, firstByteMs: elapsed(), headers: [...response.headers], kind });
      if (response.body !== null) await readBody(response.body, kind, state.value, update);
      update({ phase: 'done', totalMs: elapsed() });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // Another request may have started in the meantime.
      if (running === controller)
        update(
          controller.signal.aborted ? { phase: 'stopped', totalMs: elapsed() } : { phase: 'failed', error: reason, totalMs: elapsed() },
        );
    }
  };
  return { state, send: run, stop };
}

async function readBody(
  body: ReadableStream<Uint8Array>,
  kind: ExchangeState['kind'],
  start: ExchangeState,
  update: (change: Partial<ExchangeState>) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const readEvents = createParser();
  let { bytes, text, eventCount, streamedText, isCut } = start;
  const events: ServerSentEvent[] = [];
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    const chunk = kind === 'binary' ? '' : decoder.decode(value, { stream: true });
    if (kind === 'text' && text.length < maxShownCharacters) text += chunk;
    else if (kind === 'text') isCut = true;
    if (kind === 'events') {
      for (const event of readEvents(chunk)) {
        eventCount += 1;
        if (streamedText.length < maxShownCharacters) streamedText += addedText(event);
        if (events.length < maxShownEvents) events.push(event);
        else isCut = true;
      }
    }
    update({
      bytes,
      text: text.slice(0, maxShownCharacters),
      isCut: isCut || text.length > maxShownCharacters,
      events: [...events],
      eventCount,
      streamedText,
    });
  }
}

function kindOf(type: string): ExchangeState['kind'] {
  if (type.startsWith('text/event-stream')) return 'events';
  return type === '' || /^text\/|[/+](?:json|xml|yaml)\b|javascript/.test(type) ? 'text' : 'binary';
}

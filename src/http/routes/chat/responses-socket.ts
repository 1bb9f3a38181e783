/**
 * The WebSocket mode of the Responses API: each `response.create` is answered as the POST request that it stands for, with the headers of the
 * upgrade, so that keys, limits, usage and logs are those of HTTP. The connection keeps the items of its last response, for
 * `previous_response_id`. Sources: OpenAI's guide "WebSocket mode" (2026-11), openai/codex `codex-api/src/endpoint/responses_websocket.rs`,
 * openai/openai-agents-js `openaiResponsesModel.ts`. Not supported: `stream_id`, which is refused.
 */
import { parseJsonText } from '../../../core/json/json-text.ts';
import { isRecord, listOf, recordOf, tryParse } from '../../../core/json/wire-value.ts';
import { limits } from '../../../core/limits/limits.ts';
import { minBodyPlaceBytes } from '../../../core/limits/pools.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import { readCompletionId } from '../../../core/text/reference.ts';
import { openAiResponses } from '../../../dialects/openai-responses/dialect.ts';
import { createReplyEncoder } from '../../../dialects/reply-encoder.ts';
import { requireModel } from '../../../engine/chat/incoming-chat.ts';
import { type Place, requireTaken } from '../../../engine/fair-pool.ts';
import { isEventStream, SseParser } from '../../../net/sse.ts';
import { keyEnd, streamKeyAgeMs } from '../../key-watch.ts';
import { authenticate } from '../../middleware/authenticate.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { keepStreamPlace, requireStream } from '../../places.ts';
import { toProblem } from '../../problems.ts';

type Socket = Pick<WebSocket, 'send' | 'close' | 'addEventListener'>;
/** The last response of the connection: its input and output, as the text of a list without its brackets. */
type Kept = { id: string; items: string };

/** Throws what refuses the connection. The key was checked, but a cookie does not suffice: browsers send it with sockets of any page. */
export function connectResponses(c: AppContext): Response {
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket')
    throw noSocket('this path opens a WebSocket: send `Upgrade: websocket`, or use POST');
  if (typeof WebSocketPair === 'undefined') throw noSocket('this installation has no WebSockets: use POST /v1/responses');
  if (!c.req.header('authorization')?.trim())
    throw new Problem('unauthenticated', 'A WebSocket requires an API key: send `Authorization: Bearer <key>`.', { reason: 'missing' });
  if (c.req.header('idempotency-key') !== undefined)
    throw invalidRequest([{ path: 'idempotency-key', message: 'names one request and a WebSocket carries many: omit it, or use POST' }]);
  requireStream(c);
  const memory = requireTaken(c.get('services').pools.bodies.take(c.get('principal'), { amount: minBodyPlaceBytes }));
  const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
  server.accept();
  serveResponses(server, c, memory);
  return new Response(null, { status: 101, webSocket: client });
}

function noSocket(detail: string): Problem {
  return new Problem('method_not_allowed', `GET /v1/responses: ${detail}.`, { status: 426 });
}

/** `memory`: holds the bytes of what waits and of the kept response, until the connection ends. */
function serveResponses(socket: Socket, c: AppContext, memory: Place): void {
  const { clock, log, pools, ids, host } = c.get('services');
  const [over, queue, openedAt] = [new AbortController(), [] as string[], clock.now()];
  let [stream, kept, isBusy, messages] = [keepStreamPlace(c), null as Kept | null, false, 0];
  let disarmIdle = (): void => undefined;

  const end = (code: number, reason: string): void => {
    if (over.signal.aborted) return;
    over.abort();
    queue.length = 0;
    for (const place of [memory, stream]) place.release();
    for (const disarm of [disarmIdle, disarmLife]) disarm();
    try {
      socket.close(code, reason);
    } catch {
      // The client has closed it.
    }
  };
  const send = (event: object | string): void => {
    if (over.signal.aborted) return;
    try {
      socket.send(typeof event === 'string' ? event : JSON.stringify(event));
    } catch {
      end(1001, 'the client is gone');
    }
  };
  const fail = (error: unknown): Problem => {
    const problem = toProblem(error, { method: 'GET', path: c.req.path, requestId: c.get('requestId') }, log);
    send({ type: 'error', status: problem.status, ...openAiResponses.errorBody(problem.toBody()) });
    return problem;
  };
  const refuse = (code: number, problem: Problem): void => end(code, fail(problem).code);
  const endOfLife = (): void => {
    const error = { type: 'invalid_request_error', code: 'websocket_connection_limit_reached', message: lifeIsOver, param: null };
    send({ type: 'error', status: 400, error });
    end(1000, error.code);
  };
  const isOld = (): boolean => messages >= limits.maxSocketMessages || clock.now() - openedAt >= limits.maxSocketMs;
  const disarmLife = clock.after(limits.maxSocketMs, () => {
    if (!isBusy) endOfLife();
  });
  const watchIdle = (): void => {
    disarmIdle();
    disarmIdle = clock.after(limits.socketIdleMs, () => {
      if (!isBusy) end(1000, 'idle');
    });
  };

  /** Returns false if the connection may not hold that much. */
  const holds = (items: string): boolean => {
    const waiting = queue.reduce((sum, { length }) => sum + length, items.length);
    return waiting <= limits.maxLargeBodyBytes && memory.resize(minBodyPlaceBytes + waiting) === null;
  };
  const keep = (next: Kept | null): void => {
    kept = next !== null && holds(next.items) ? next : null;
    if (kept === null) holds('');
  };

  const answer = async (text: string): Promise<void> => {
    const { body, generates } = readCreate(text);
    const isNext = kept !== null && body.previous_response_id === kept.id;
    const items = joinItems(isNext ? (kept?.items ?? '') : '', itemsOf(body.input));
    if (!generates) {
      const created = { id: ids.next('resp'), model: requireModel(body).model, created: Math.floor(clock.now() / 1_000) };
      const encoder = createReplyEncoder(openAiResponses, created);
      for (const { data } of [...encoder.begin(), ...encoder.frames({ type: 'finish', reason: 'stop', raw: null })]) send(data);
      return keep({ id: created.id, items });
    }
    const { input: _input, previous_response_id: previous, ...rest } = body;
    const whole = isNext
      ? `${JSON.stringify({ ...rest, stream: true }).slice(0, -1)},"input":[${items}]}`
      : JSON.stringify({ ...body, stream: true });
    const reply = await c.get('dispatch')(toPost(c, whole, over.signal));
    // A failed request may not be continued from the same state.
    if (!isEventStream(reply)) {
      if (isNext) keep(null);
      send(await readFailure(reply, typeof previous === 'string'));
      if (reply.status === 401) end(1008, 'unauthenticated');
      return;
    }
    const { id, output } = await passEvents(reply, send, over.signal);
    const isStored = id === null || readCompletionId('openai-responses', id) !== null;
    keep(
      isStored
        ? null
        : {
            id,
            items: joinItems(
              items,
              output.filter((item) => body.store !== false || isWhole(item)),
            ),
          },
    );
  };

  const work = async (): Promise<void> => {
    isBusy = true;
    // Each request takes a place among the streams itself.
    stream.release();
    for (let text = queue.shift(); text !== undefined && !over.signal.aborted; text = queue.shift()) {
      if (isOld()) break;
      messages += 1;
      await answer(text).catch(fail);
    }
    isBusy = false;
    if (over.signal.aborted) return;
    stream = pools.streams.takeBeyondLimit(c.get('principal'));
    if (isOld()) return endOfLife();
    watchIdle();
  };

  socket.addEventListener('message', ({ data }) => {
    if (over.signal.aborted) return;
    if (typeof data !== 'string') return refuse(1003, invalidRequest([{ path: '', message: 'must be text, not a binary message' }]));
    if (queue.length >= limits.maxSocketQueue)
      return refuse(
        1008,
        new Problem('rate_limited', `More than ${limits.maxSocketQueue} messages wait for a reply. Send the next one after it.`),
      );
    queue.push(data);
    if (!holds(kept?.items ?? '')) {
      kept = null;
      if (!holds(''))
        return refuse(1009, new Problem('body_too_large', 'The messages that wait are longer than this connection may hold.'));
    }
    if (!isBusy) void work();
  });
  for (const event of ['close', 'error'] as const) socket.addEventListener(event, () => end(1000, ''));
  const place = {
    renew: () => {
      for (const held of [memory, stream]) held.renew();
    },
    release: () => undefined,
  };
  const check = () => authenticate(c, ['chat'], streamKeyAgeMs);
  void keyEnd({ clock, log, place, check }, over.signal).then((problem) => {
    if (problem !== null) refuse(1008, problem);
  });
  // RFC 6455 §11.7: the service restarts.
  void host.untilEnd(over.signal).then((problem) => {
    if (problem !== null) refuse(1012, problem);
  });
  watchIdle();
}

const lifeIsOver = `This WebSocket has reached its limit of ${limits.maxSocketMs / 60_000} minutes or ${limits.maxSocketMessages} messages. Open a new one to continue.`;

function readCreate(text: string): { body: Record<string, unknown>; generates: boolean } {
  const value = parseJsonText(text);
  if (!isRecord(value) || value.type !== 'response.create')
    throw invalidRequest([{ path: 'type', message: 'must be "response.create": other messages are not supported' }]);
  const { type: _type, generate, stream, ...body } = value;
  const issues = [
    ...(generate === undefined || typeof generate === 'boolean' ? [] : [{ path: 'generate', message: 'must be true or false' }]),
    ...(stream === false ? [{ path: 'stream', message: 'must be true or absent: a WebSocket always streams' }] : []),
    ...(body.background === true ? [{ path: 'background', message: 'is not supported over a WebSocket' }] : []),
    ...(body.stream_id === undefined ? [] : [{ path: 'stream_id', message: 'is not supported: open a WebSocket for each conversation' }]),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
  return { body, generates: generate !== false };
}

function itemsOf(input: unknown): readonly unknown[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
}

function joinItems(text: string, items: readonly unknown[]): string {
  return [text, JSON.stringify(items).slice(1, -1)].filter((part) => part !== '').join(',');
}

/** Reasoning without its content cannot be sent again: the provider looks it up, and has not stored it. */
function isWhole(item: unknown): boolean {
  const { type, encrypted_content: encrypted } = recordOf(item);
  return type !== 'reasoning' || typeof encrypted === 'string';
}

/** What belongs to the connection, to a body that the upgrade does not have, or to a browser. */
const ofUpgrade = /^(?:connection|upgrade|sec-websocket-.*|content-.*|accept.*|transfer-encoding|cookie|origin|x-request-id)$/;

function toPost(c: AppContext, text: string, signal: AbortSignal): Request {
  const headers = new Headers([...c.req.raw.headers].filter(([name]) => !ofUpgrade.test(name)));
  const body = new TextEncoder().encode(text);
  headers.set('content-type', 'application/json');
  headers.set('content-length', String(body.byteLength));
  return new Request(c.req.url, { method: 'POST', headers, body, signal });
}

/** `continues`: the request named a previous response. */
async function readFailure(reply: Response, continues: boolean): Promise<object> {
  const { error } = recordOf(tryParse(await reply.text()));
  const isUnknown = continues && reply.status === 404 && recordOf(error).param === 'previous_response_id';
  return {
    type: 'error',
    status: isUnknown ? 400 : reply.status,
    error: isUnknown ? { ...recordOf(error), type: 'invalid_request_error', code: 'previous_response_not_found' } : error,
    headers: shownHeaders(reply),
  };
}

function shownHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => /^(?:x-moniker-.*|x-request-id|x-should-retry|retry-after.*|ratelimit.*)$/.test(name)),
  );
}

/** Sends each event unchanged, except that the first one also has the headers of the reply. Returns what the next request needs. */
async function passEvents(
  reply: Response,
  send: (event: object | string) => void,
  signal: AbortSignal,
): Promise<{ id: string | null; output: unknown[] }> {
  const parser = new SseParser();
  const output: unknown[] = [];
  let [id, isFirst, isOver] = [null as string | null, true, false];
  const pass = (named: string, data: string): void => {
    if (data === '' || data === '[DONE]') return;
    const event = named === 'message' ? recordOf(tryParse(data)).type : named;
    if (typeof event !== 'string') return;
    const isEnd = /^response\.(?:completed|incomplete|failed)$/.test(event);
    const parsed = isFirst || isEnd || event === 'response.output_item.done' ? recordOf(tryParse(data)) : {};
    send(isFirst ? { ...parsed, headers: shownHeaders(reply) } : data);
    isFirst = false;
    if (event === 'response.output_item.done') output.push(parsed.item);
    if (!isEnd) return;
    isOver = true;
    const { id: given } = recordOf(parsed.response);
    if (event !== 'response.failed' && typeof given === 'string') id = given;
  };
  const reader = reply.body?.getReader();
  const abort = (): void => void reader?.cancel().catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      for (const { event, data } of parser.push(read.value)) pass(event, data);
    for (const { event, data } of parser.end()) pass(event, data);
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
  if (!isOver && !signal.aborted) throw new Problem('upstream_error', 'The response ended before its last event.');
  return { id, output };
}

/**
 * One MCP server on standard input and output, for many sessions of one owner or of all: initialized once; JSON-RPC ids and progress tokens
 * of the sessions are replaced by unique ones. What the server sends by itself goes to the conversation that it belongs to. If that is not
 * certain, a request is refused: a user must not answer for another one.
 */
import { endedCode, type StdioRun, unansweredCode } from '../../core/servers/stdio.ts';
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { version } from '../../core/version.ts';
import { type BridgeSession, BridgeSessions, type RpcMessage, type RpcStream, type SessionOwner } from './bridge-sessions.ts';
import { type Child, startChild } from './child.ts';
import type { ProgramEnvironment } from './program-environment.ts';

const protocolVersion = '2025-11-25';
const maxRequests = 256;
const maxSubscriptions = 200;
/** Requests of the server that have no response yet. */
const maxQuestions = 100;
/** Longer than any call of the Worker, which cancels its calls itself. */
const requestTimeoutMs = limits.maxServerCallMs + 60_000;

type OpenRequest = {
  session: BridgeSession;
  id: unknown;
  method: string;
  progressToken: unknown;
  stream: RpcStream;
  timer: NodeJS.Timeout;
};
/** A request of the server that a session has received. */
type Question = { serverId: unknown; request: OpenRequest };

export type ServerEvents = { onLog(line: string): void; onExit(reason: string): void };

export class SharedServer {
  readonly sessions = new BridgeSessions();
  readonly #run: StdioRun;
  readonly #environment: ProgramEnvironment;
  readonly #events: ServerEvents;
  readonly #requests = new Map<number, OpenRequest>();
  readonly #questions = new Map<string, Question>();
  #child: Child | null = null;
  #count = 0;
  #initialized = Promise.withResolvers<RpcMessage>();
  /** The result of `initialize`. */
  #welcome: RpcMessage = {};

  constructor(run: StdioRun, environment: ProgramEnvironment, events: ServerEvents) {
    this.#run = run;
    this.#environment = environment;
    this.#events = events;
    // `start` may have failed before it waits.
    this.#initialized.promise.catch(() => {});
  }

  /** It has responded to `initialize`. */
  isReady = false;
  /** The launcher ends it. */
  isEnding = false;

  /** Requests in progress. */
  get requests(): number {
    return this.#requests.size;
  }

  get isWatched(): boolean {
    return this.sessions.listening.length > 0;
  }

  /** Starts and initializes the server. Rejects if it does not start, exits, or is ended before it responds. */
  async start(): Promise<void> {
    this.#child = await startChild(this.#run, this.#environment, {
      onLine: (line) => this.#receive(line),
      onLongLine: (edges) => this.#discard(edges),
      onStderr: (line) => this.#events.onLog(line),
      onExit: (how) => this.#exited(how),
    });
    const params = { protocolVersion, capabilities: this.#run.capabilities, clientInfo: { name: 'moniker', version } };
    // It was ended while the command was being started.
    if (this.isEnding) await this.#child.end();
    this.#write({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const response = await this.#initialized.promise;
    if (!isRecord(response.result)) throw new Error(`rejected \`initialize\`: ${String(recordOf(response.error).message).slice(0, 300)}`);
    this.#welcome = response.result;
    this.isReady = true;
    this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.#child?.end();
  }

  openSession(capabilities: Record<string, unknown>, owner: SessionOwner): { session: BridgeSession; welcome: RpcMessage } {
    const session = this.sessions.add(capabilities, owner);
    const surplus = this.sessions.surplus(new Set(Array.from(this.#requests.values(), ({ session: busy }) => busy)));
    if (surplus !== undefined) this.closeSession(surplus);
    return { session, welcome: this.#welcome };
  }

  closeSession(session: BridgeSession): void {
    this.sessions.delete(session.id);
    for (const stream of session.streams) stream.end();
    for (const [id, request] of this.#requests) if (request.session === session) this.#cancel(id, 'The session has ended.');
    for (const uri of session.subscriptions) this.#unsubscribe(uri);
  }

  /** Sends a request of a session. Its response, and what belongs to it, is sent to the stream, which then ends. */
  request(session: BridgeSession, message: RpcMessage, stream: RpcStream): void {
    this.sessions.touch(session);
    const own = this.#next();
    const timer = setTimeout(() => this.#cancel(own, 'The request took too long.'), requestTimeoutMs);
    const params = recordOf(message.params);
    const { progressToken } = recordOf(params._meta);
    this.#requests.set(own, { ...{ session, id: message.id, progressToken, stream, timer }, method: String(message.method) });
    const done = this.#requests.size > maxRequests ? tooMany : this.#subscribe(session, message);
    const meta = progressToken === undefined ? {} : { _meta: { ...recordOf(params._meta), progressToken: own } };
    const sent = { ...message, id: own, ...(message.params !== undefined && { params: { ...params, ...meta } }) };
    if (done !== null) this.#finish(own, done);
    else if (!this.#write(sent)) this.#finish(own, errorOf('The call was not sent: the server does not read its input.'));
  }

  /** Notes subscriptions, which the sessions share. Returns the response of a request that the server need not receive, otherwise null. */
  #subscribe({ subscriptions }: BridgeSession, { method, params }: RpcMessage): RpcMessage | null {
    const uri = String(recordOf(params).uri);
    if (method === 'resources/subscribe') {
      if (subscriptions.size >= maxSubscriptions) return errorOf(`A session may have at most ${maxSubscriptions} subscriptions.`);
      subscriptions.add(uri);
    }
    if (method !== 'resources/unsubscribe') return null;
    subscriptions.delete(uri);
    return this.sessions.isSubscribed(uri) ? { result: {} } : null;
  }

  /** A notification, or a response to a question of the server. */
  receiveFrom(session: BridgeSession, message: RpcMessage): void {
    if (message.method === 'notifications/cancelled') {
      const { requestId, reason } = recordOf(message.params);
      for (const [id, request] of this.#requests)
        if (request.session === session && request.id === requestId) this.#cancel(id, typeof reason === 'string' ? reason : 'Cancelled.');
      return;
    }
    const question = typeof message.id === 'string' ? this.#questions.get(message.id) : undefined;
    if (message.method !== undefined || question === undefined || question.request.session !== session) return;
    this.#questions.delete(String(message.id));
    this.#write({ ...message, id: question.serverId });
  }

  /** The receiver of this stream has gone: its request has no use any more. */
  abandon(stream: RpcStream): void {
    for (const [id, request] of this.#requests) if (request.stream === stream) this.#cancel(id, 'The client has gone.');
  }

  #receive(line: string): void {
    // Parsing what cannot be a message would cost seconds for a flood of short lines.
    const message = line.startsWith('{') ? tryParse(line) : null;
    if (!isRecord(message) || message.jsonrpc !== '2.0') {
      this.#events.onLog(`(not MCP, on standard output) ${line}`);
      return;
    }
    if (typeof message.method !== 'string') this.#receiveResponse(message);
    else if (message.id === undefined) this.#receiveNotification(message, message.method);
    else this.#receiveQuestion(message, message.method);
  }

  #receiveResponse(message: RpcMessage): void {
    if (message.id === 0) this.#initialized.resolve(message);
    else if (typeof message.id === 'number') this.#finish(message.id, message);
  }

  #receiveNotification(message: RpcMessage, method: string): void {
    const params = recordOf(message.params);
    if (method === 'notifications/progress') {
      const request = this.#requests.get(Number(params.progressToken));
      request?.stream.send({ ...message, params: { ...params, progressToken: request.progressToken } });
      return;
    }
    if (method === 'notifications/cancelled') {
      for (const [id, { serverId, request }] of this.#questions)
        if (serverId === params.requestId) request.stream.send({ ...message, params: { ...params, requestId: id } });
      return;
    }
    if (method === 'notifications/resources/updated') {
      for (const { streams, subscriptions } of this.sessions.values())
        if (subscriptions.has(String(params.uri))) for (const stream of streams) stream.send(message);
      return;
    }
    if (method.endsWith('/list_changed')) {
      for (const session of this.sessions.values()) this.#announce(session, message);
      return;
    }
    // It may contain data of a call, which is not named.
    const caller = this.#soleCaller();
    if (caller !== null) caller.stream.send(message);
    else if (this.#sendToOwner(message) === 0) this.#events.onLog(`(${method}, not certain for whom) ${JSON.stringify(params)}`);
  }

  /** Outside calls, to those who listen, if they have the same owner. Returns how many receive it. */
  #sendToOwner(message: RpcMessage): number {
    const { listening } = this.sessions;
    if (this.#requests.size > 0 || new Set(listening.map(({ conversation }) => conversation)).size !== 1) return 0;
    for (const { streams } of listening) for (const stream of streams) stream.send(message);
    return listening.length;
  }

  #announce(session: BridgeSession, message: RpcMessage): void {
    const request = session.streams.size > 0 ? undefined : [...this.#requests.values()].findLast((one) => one.session === session);
    for (const stream of request === undefined ? session.streams : [request.stream]) stream.send(message);
  }

  #receiveQuestion(message: RpcMessage, method: string): void {
    const request = this.#soleCaller();
    const capability = method === 'roots/list' ? 'roots' : method.startsWith('elicitation/') ? 'elicitation' : 'sampling';
    if (method === 'ping') this.#answer(message.id, { result: {} });
    else if (method === 'roots/list' && this.#run.roots !== 'client') this.#answer(message.id, { result: { roots: this.#run.roots } });
    else if (request === null) this.#answer(message.id, refusal('it is not certain which client of this server caused the request'));
    else if (request.session.capabilities[capability] === undefined)
      this.#answer(message.id, refusal(`the client of this call does not support ${capability}`));
    else if (this.#questions.size >= maxQuestions)
      this.#answer(message.id, refusal(`${maxQuestions} requests of this server have no response yet`));
    else {
      const id = `server-${this.#next()}`;
      this.#questions.set(id, { serverId: message.id, request });
      request.stream.send({ ...message, id });
    }
  }

  #answer(id: unknown, answer: RpcMessage): void {
    this.#write({ jsonrpc: '2.0', id, ...answer });
  }

  /** The newest call, if all calls in progress are of one conversation. */
  #soleCaller(): OpenRequest | null {
    const calls = [...this.#requests.values()].filter(({ method }) => !method.endsWith('/list'));
    return new Set(calls.map(({ session }) => session.conversation)).size === 1 ? (calls.at(-1) ?? null) : null;
  }

  /** A result over the limit: its request fails at once, if its id can be seen. */
  #discard(edges: string): void {
    this.#events.onLog('a message over 20 MB was discarded');
    const ids = [...edges.matchAll(/"id"\s*:\s*(\d+)/g)].map(([, id]) => Number(id));
    const id = ids.find((one) => this.#requests.has(one)) ?? (this.#requests.size === 1 ? [...this.#requests.keys()][0] : undefined);
    if (id !== undefined) this.#finish(id, errorOf('The result was larger than 20 MB. Request less data, or a part of it.'));
  }

  #exited(how: string): void {
    this.#initialized.reject(new Error(how));
    const why = this.isEnding ? 'was ended, because it was changed or deleted, its session ended or Moniker stops,' : how;
    for (const id of [...this.#requests.keys()]) this.#finish(id, errorOf(`The server ${why} before it responded.`, { code: endedCode }));
    for (const session of this.sessions.values()) for (const stream of session.streams) stream.end();
    this.sessions.clear();
    this.#events.onExit(how);
  }

  #finish(id: number, answer: RpcMessage): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#requests.delete(id);
    clearTimeout(request.timer);
    for (const [question, { request: asked, serverId }] of this.#questions) {
      if (asked !== request) continue;
      this.#questions.delete(question);
      this.#answer(serverId, errorOf('The call has ended.'));
    }
    request.stream.send({ jsonrpc: '2.0', ...answer, id: request.id });
    request.stream.end();
  }

  #cancel(id: number, reason: string): void {
    this.#write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
    this.#finish(id, errorOf(reason, { code: unansweredCode }));
  }

  #unsubscribe(uri: string): void {
    // Its response has no reader.
    if (!this.sessions.isSubscribed(uri))
      this.#write({ jsonrpc: '2.0', id: this.#next(), method: 'resources/unsubscribe', params: { uri } });
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #write(message: RpcMessage): boolean {
    return this.#child?.write(JSON.stringify(message)) ?? false;
  }
}

const tooMany = errorOf(`The call was not sent: ${maxRequests} requests of this server have no response yet.`);

function errorOf(message: string, data?: { code: string }): RpcMessage {
  return { error: { code: -32_000, message, ...(data && { data }) } };
}

function refusal(why: string): RpcMessage {
  return { error: { code: -32_601, message: `Refused: ${why}.` } };
}

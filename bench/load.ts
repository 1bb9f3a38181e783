/**
 * A closed-loop HTTP/1.1 load client on raw keep-alive sockets, light enough not to dominate the measurement. Counts SSE events as records
 * ended by a blank line, and times the first byte of the body and the whole response.
 */
import { connect, type Socket } from 'node:net';

export type Prepared = { host: string; port: number; bytes: Buffer };

/** `once`: each request is sent at most once, and the remaining ones are dropped at the end. `status`: the expected one; absent: any 2xx. */
export type LoadOptions = { connections: number; ms: number; sse: boolean; once?: boolean; status?: number };

/** Times in milliseconds, over the responses with the expected status. */
export type LoadResult = {
  answers: number;
  bad: number;
  errors: number;
  requestsPerSecond: number;
  eventsPerSecond: number;
  eventsPerAnswer: number;
  p50: number;
  p99: number;
  first50: number;
};

export function prepare(url: string, options: { method?: string; headers?: Record<string, string>; body?: unknown } = {}): Prepared {
  const { hostname, port, host, pathname, search } = new URL(url);
  const method = options.method ?? 'POST';
  const body = options.body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(options.body));
  const headers = {
    host,
    accept: '*/*',
    'content-type': 'application/json',
    ...options.headers,
    ...(body.length > 0 && { 'content-length': body.length }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  return { host: hostname, port: Number(port), bytes: Buffer.concat([Buffer.from(head), body]) };
}

/** Sends the requests in turn over `connections` sockets for `ms`; each socket sends its next request after its response. */
export async function load(requests: readonly Prepared[], options: LoadOptions): Promise<LoadResult> {
  const started = performance.now();
  const end = started + options.ms;
  const times: number[] = [];
  const firsts: number[] = [];
  const counts = { bad: 0, errors: 0, events: 0, next: 0, last: started };
  const exchange: Exchange = {
    next: () => {
      const at = counts.next++;
      if (performance.now() >= end || (options.once === true && at >= requests.length)) return null;
      return requests[at % requests.length] ?? null;
    },
    done: ({ total, first, status, events }) => {
      counts.last = performance.now();
      if (options.status === undefined ? status < 200 || status >= 300 : status !== options.status) {
        counts.bad++;
        return;
      }
      times.push(total);
      firsts.push(first);
      counts.events += events;
    },
    failed: () => {
      counts.errors++;
    },
  };
  await Promise.all(Array.from({ length: options.connections }, () => runConnection(exchange, options)));
  const seconds = (counts.last - started) / 1000;
  times.sort((a, b) => a - b);
  firsts.sort((a, b) => a - b);
  return {
    answers: times.length,
    bad: counts.bad,
    errors: counts.errors,
    requestsPerSecond: times.length / seconds,
    eventsPerSecond: counts.events / seconds,
    eventsPerAnswer: counts.events / times.length,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    first50: percentile(firsts, 0.5),
  };
}

type Answer = { total: number; first: number; status: number; events: number };
type Exchange = { next(): Prepared | null; done(answer: Answer): void; failed(): void };

/** A response that takes longer counts as hung: the run continues without this connection. */
const answerTimeoutMs = 30_000;

function runConnection(exchange: Exchange, { sse }: LoadOptions): Promise<void> {
  return new Promise((resolve) => {
    let socket: Socket | null = null;
    let reader = new AnswerReader(sse);
    let sentAt = 0;
    const close = (): void => {
      socket?.removeAllListeners();
      socket?.on('error', () => {}); // errors after the end are irrelevant
      socket?.destroy();
      resolve();
    };
    const send = (): void => {
      const request = exchange.next();
      if (request === null) {
        close();
        return;
      }
      reader = new AnswerReader(sse);
      if (socket === null) {
        socket = connect({ host: request.host, port: request.port, noDelay: true });
        socket.setTimeout(answerTimeoutMs, fail);
        socket.on('error', fail);
        socket.on('close', fail);
        socket.on('data', receive);
      }
      sentAt = performance.now();
      socket.write(request.bytes);
    };
    const receive = (chunk: Buffer): void => {
      if (!reader.push(chunk)) return;
      const now = performance.now();
      exchange.done({ total: now - sentAt, first: (reader.firstAt || now) - sentAt, status: reader.status, events: reader.events });
      send();
    };
    const fail = (): void => {
      exchange.failed();
      socket?.removeAllListeners();
      socket?.on('error', () => {}); // reported above
      socket?.destroy();
      socket = null;
      // Prevents a busy loop when a server refuses every connection.
      setTimeout(send, 50);
    };
    send();
  });
}

const headEnd = Buffer.from('\r\n\r\n');
const blankLine = Buffer.from('\n\n');
const newline = 10;

/** Parses one response from its bytes; `push` returns whether it is complete. Reads `content-length` and chunked bodies. */
class AnswerReader {
  status = 0;
  events = 0;
  firstAt = 0;
  #countEvents: boolean;
  #mode: 'head' | 'length' | 'size' | 'chunk' | 'chunk-end' | 'last' = 'head';
  #need = 0;
  #carry: Buffer = Buffer.alloc(0);
  #lastByte = 0;

  constructor(countEvents: boolean) {
    this.#countEvents = countEvents;
  }

  push(chunk: Buffer): boolean {
    let data = this.#carry.length > 0 ? Buffer.concat([this.#carry, chunk]) : chunk;
    this.#carry = Buffer.alloc(0);
    for (;;) {
      const used = this.#step(data);
      if (used === 'whole') return true;
      if (used === 'more') {
        this.#carry = data;
        return false;
      }
      data = data.subarray(used);
    }
  }

  /** Returns the number of bytes consumed, or whether the response is complete or needs more bytes. */
  #step(data: Buffer): number | 'more' | 'whole' {
    switch (this.#mode) {
      case 'head':
        return this.#head(data);
      case 'length': {
        const taken = this.#take(data);
        return this.#need === 0 ? 'whole' : taken === 0 ? 'more' : taken;
      }
      case 'size': {
        const end = data.indexOf('\r\n');
        if (end < 0) return 'more';
        this.#need = Number.parseInt(data.toString('latin1', 0, end), 16);
        this.#mode = this.#need === 0 ? 'last' : 'chunk';
        return end + 2;
      }
      case 'chunk': {
        const taken = this.#take(data);
        if (this.#need === 0) this.#mode = 'chunk-end';
        return taken === 0 ? 'more' : taken;
      }
      case 'chunk-end':
        if (data.length < 2) return 'more';
        this.#mode = 'size';
        return 2;
      case 'last':
        return data.length < 2 ? 'more' : 'whole';
      default:
        return this.#mode satisfies never;
    }
  }

  #head(data: Buffer): number | 'more' | 'whole' {
    const end = data.indexOf(headEnd);
    if (end < 0) return 'more';
    const head = data.toString('latin1', 0, end);
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    this.#mode = length === null ? 'size' : 'length';
    this.#need = Number(length?.[1] ?? 0);
    return this.#mode === 'length' && this.#need === 0 ? 'whole' : end + headEnd.length;
  }

  #take(data: Buffer): number {
    const part = data.length <= this.#need ? data : data.subarray(0, this.#need);
    if (part.length === 0) return 0;
    this.firstAt ||= performance.now();
    this.#need -= part.length;
    if (this.#countEvents) {
      if (this.#lastByte === newline && part[0] === newline) this.events++;
      for (let at = part.indexOf(blankLine); at >= 0; at = part.indexOf(blankLine, at + 2)) this.events++;
      this.#lastByte = part[part.length - 1] ?? 0;
    }
    return part.length;
  }
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

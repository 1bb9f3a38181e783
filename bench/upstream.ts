/**
 * A fake model provider for every API by path (`upstream-wires.ts`), as lightweight as possible: responses are built once and cached,
 * nothing is parsed. `node bench/upstream.ts <port>`. The model's name selects the response, because every gateway forwards it:
 * `mock-c200-py` is 200 text events with a yield to the event loop between them.
 *   c<N> text events (20)   l<N> bytes of text in a plain response (256)   p0 all at once (default) | py yield | p<N> ms apart
 */
import { createServer, type ServerResponse } from 'node:http';
import { streamEvents, wholeBody, wireOf } from './upstream-wires.ts';

type Shape = { events: number; textBytes: number; pace: string };
type Answer = { body: Buffer } | { events: Buffer[]; pace: string };

const answers = new Map<string, Answer>();

createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    if (request.method === 'GET') {
      response.end('ok');
      return;
    }
    const body = Buffer.concat(parts);
    const path = request.url ?? '';
    // Gemini has both in the path.
    const inPath = /\/models\/([^:]+):(stream)?/.exec(path);
    const model = inPath?.[1] ?? readModel(body);
    const streamed = inPath === null ? wantsStream(body) : inPath[2] !== undefined;
    const key = `${wireOf(path)} ${model} ${streamed}`;
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = buildAnswer(path, model, streamed);
      answers.set(key, answer);
    }
    send(response, answer);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

// A scan instead of a parse: the fake must not dominate the measurement.
function readModel(body: Buffer): string {
  const at = body.indexOf('"model"');
  const open = body.indexOf('"', at + 8);
  return at < 0 ? 'mock' : body.toString('latin1', open + 1, body.indexOf('"', open + 1));
}

function wantsStream(body: Buffer): boolean {
  const at = body.indexOf('"stream":');
  return at >= 0 && body.toString('latin1', at + 9, at + 15).includes('true');
}

function buildAnswer(path: string, model: string, streamed: boolean): Answer {
  const shape = readShape(model);
  const wire = wireOf(path);
  if (streamed) return { events: streamEvents(wire, model, shape.events).map((event) => Buffer.from(event)), pace: shape.pace };
  const text = 'lorem ipsum dolor sit amet '.repeat(Math.ceil(shape.textBytes / 27)).slice(0, shape.textBytes);
  return { body: Buffer.from(wholeBody(wire, model, text)) };
}

function readShape(model: string): Shape {
  const part = (letter: string): string | undefined =>
    model
      .split('-')
      .find((piece, index) => index > 0 && piece.startsWith(letter))
      ?.slice(1);
  return { events: Number(part('c') ?? 20), textBytes: Number(part('l') ?? 256), pace: part('p') ?? '0' };
}

function send(response: ServerResponse, answer: Answer): void {
  if ('body' in answer) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.body.length });
    response.end(answer.body);
    return;
  }
  const { events, pace } = answer;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  let index = 0;
  const again = (): void => {
    if (pace === '0') step();
    else if (pace === 'y') setImmediate(step);
    else setTimeout(step, Number(pace));
  };
  const step = (): void => {
    if (response.destroyed) return;
    let drained = true;
    do drained = index < events.length && response.write(events[index++] ?? '');
    while (pace === '0' && drained);
    if (drained) again();
    else if (index < events.length) response.once('drain', again);
    else response.end();
  };
  step();
}

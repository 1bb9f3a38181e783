/**
 * A stand-in for a model provider (Chat Completions), as cheap as can be: answers are built once and kept, nothing is
 * parsed. `node bench/upstream.ts <port>`. The model's name says what it answers, because every gateway forwards that:
 * `mock-c200-py` is 200 text events with a yield to the event loop between them.
 *   c<N> text events (20)   l<N> bytes of text in a plain answer (256)   p0 all at once (default) | py yield | p<N> ms apart
 */
import { createServer, type ServerResponse } from 'node:http';

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
    const key = `${readModel(body)} ${wantsStream(body)}`;
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = buildAnswer(readModel(body), wantsStream(body));
      answers.set(key, answer);
    }
    send(response, answer);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');

// A scan, no parse: the stand-in must not be what is measured.
function readModel(body: Buffer): string {
  const at = body.indexOf('"model"');
  const open = body.indexOf('"', at + 8);
  return at < 0 ? 'mock' : body.toString('latin1', open + 1, body.indexOf('"', open + 1));
}

function wantsStream(body: Buffer): boolean {
  const at = body.indexOf('"stream":');
  return at >= 0 && body.toString('latin1', at + 9, at + 15).includes('true');
}

function buildAnswer(model: string, streamed: boolean): Answer {
  const shape = readShape(model);
  if (streamed) return { events: streamEvents(model, shape).map((event) => Buffer.from(event)), pace: shape.pace };
  const content = 'lorem ipsum dolor sit amet '.repeat(Math.ceil(shape.textBytes / 27)).slice(0, shape.textBytes);
  const choice = { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' };
  const usage = { prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 };
  return {
    body: Buffer.from(
      JSON.stringify({ id: 'chatcmpl-Bench', object: 'chat.completion', created: 1_760_000_000, model, choices: [choice], usage }),
    ),
  };
}

function readShape(model: string): Shape {
  const part = (letter: string): string | undefined =>
    model
      .split('-')
      .find((piece, index) => index > 0 && piece.startsWith(letter))
      ?.slice(1);
  return { events: Number(part('c') ?? 20), textBytes: Number(part('l') ?? 256), pace: part('p') ?? '0' };
}

const words = ['The', ' quick', ' brown', ' fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.'];

function streamEvents(model: string, shape: Shape): string[] {
  const base = {
    id: 'chatcmpl-Bench',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  };
  const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
  const chunk = (delta: unknown, finish: string | null): string =>
    event({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const texts = Array.from({ length: shape.events }, (_, index) => chunk({ content: words[index % words.length] }, null));
  const usage = event({
    ...base,
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: shape.events, total_tokens: 100 + shape.events },
  });
  return [chunk({ role: 'assistant', content: '', refusal: null }, null), ...texts, chunk({}, 'stop'), usage, 'data: [DONE]\n\n'];
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

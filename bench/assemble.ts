/**
 * How fast a streamed reply becomes tool calls: our way (event stream → adapter → assembler → events) against the floor,
 * which decodes, splits lines, parses each event and joins the argument text, and does nothing else. Same bytes, a fresh
 * process for each measurement, best of three passes after a warm-up; the arguments are checked byte for byte. Then what
 * reading damaged arguments costs. Exit code 1 when a goal is missed.
 *
 *   node bench/assemble.ts [--rounds 5] [--cases par8,one] [--scales 1,2,4,8]
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readArguments } from '../src/core/json-repair.ts';
import type { ProviderAccess } from '../src/core/provider.ts';
import { SseParser } from '../src/net/sse.ts';
import { OpenAiReply } from '../src/providers/openai.ts';

/** At scale 8: eight interleaved calls of 50 kB each, or one of 1 MB, in deltas of eight characters, an event a read. */
const cases: Record<string, (scale: number) => { calls: number; bytes: number }> = {
  par8: (scale) => ({ calls: 8, bytes: (50_000 * scale) / 8 }),
  one: (scale) => ({ calls: 1, bytes: (1_000_000 * scale) / 8 }),
};

const readers: Record<string, (segments: readonly Uint8Array[]) => string[]> = { floor: readFloor, ours: readOurs };

const access: ProviderAccess = { name: 'bench', kind: 'openai', baseUrl: 'https://bench.invalid/v1', headers: {}, models: [], profile: {} };

function readOurs(segments: readonly Uint8Array[]): string[] {
  const parser = new SseParser();
  const reply = new OpenAiReply(access, 'bench');
  const calls: string[] = [];
  for (const segment of segments) {
    for (const message of parser.push(segment)) {
      for (const event of reply.take(message)) {
        if (event.type === 'call-start') calls[event.call] = '';
        else if (event.type === 'call-delta') calls[event.call] += event.text;
        else if (event.type === 'call-end' && event.state !== 'ok') throw new Error(`call ${event.call} is ${event.state}`);
      }
    }
  }
  return calls;
}

function readFloor(segments: readonly Uint8Array[]): string[] {
  const decoder = new TextDecoder();
  const calls: string[] = [];
  let rest = '';
  for (const segment of segments) {
    const text = rest + decoder.decode(segment, { stream: true });
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      if (text.startsWith('data: {', from)) {
        for (const call of JSON.parse(text.slice(from + 6, to)).choices[0]?.delta.tool_calls ?? []) {
          calls[call.index] = (calls[call.index] ?? '') + call.function.arguments;
        }
      }
      from = to + 1;
    }
    rest = text.slice(from);
  }
  return calls;
}

/** JSON of about so many bytes, with escapes and text beyond ASCII. */
function argumentsJson(bytes: number, seed: number): string {
  const rows: unknown[] = [];
  for (let size = 0, row = 0; size < bytes - 60; row++) {
    rows.push({ id: seed * 1e6 + row, path: `src/module_${row % 97}/file.ts`, note: `line ${row}: "quoted" \n tab\t é` });
    size += JSON.stringify(rows.at(-1)).length + 1;
  }
  return JSON.stringify({ city: 'Paris', rows });
}

/** A recorded-like stream, an event a segment; the calls' deltas take turns. */
function segmentsOf({ calls, bytes }: { calls: number; bytes: number }): Uint8Array[] {
  const encoder = new TextEncoder();
  const base = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'bench',
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  };
  const frame = (value: unknown): Uint8Array => encoder.encode(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  const chunk = (delta: unknown, finish_reason: string | null = null): Uint8Array =>
    frame({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const texts = Array.from({ length: calls }, (_, index) => argumentsJson(bytes, index));
  const segments = [chunk({ role: 'assistant', content: '', refusal: null })];
  for (let index = 0; index < calls; index++) {
    segments.push(
      chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: `tool_${index}`, arguments: '' } }] }),
    );
  }
  for (let at = 0; texts.some((text) => at < text.length); at += 8) {
    for (const [index, text] of texts.entries())
      if (at < text.length) segments.push(chunk({ tool_calls: [{ index, function: { arguments: text.slice(at, at + 8) } }] }));
  }
  return [
    ...segments,
    chunk({}, 'tool_calls'),
    frame({ ...base, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
    frame('[DONE]'),
  ];
}

/** One measurement, in its own process: milliseconds of the best pass. */
function measure(reader: string, name: string, scale: number): number {
  const shape = cases[name]?.(scale);
  const read = readers[reader];
  if (shape === undefined || read === undefined) throw new Error(`there is no ${reader} or ${name}`);
  const segments = segmentsOf(shape);
  const warmUp = segmentsOf({ ...shape, bytes: 2000 });
  for (let pass = 0; pass < 6; pass++) read(warmUp);
  let best = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < 3; pass++) {
    const start = performance.now();
    const calls = read(segments);
    best = Math.min(best, performance.now() - start);
    for (const [index, text] of calls.entries())
      if (text !== argumentsJson(shape.bytes, index)) throw new Error(`${reader} got call ${index} wrong`);
    if (calls.length !== shape.calls) throw new Error(`${reader} found ${calls.length} calls`);
  }
  return best;
}

function measureApart(reader: string, name: string, scale: number): number {
  const child = spawnSync(process.execPath, [import.meta.filename, '--child', JSON.stringify([reader, name, scale])], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (child.status !== 0) throw new Error(`${reader} ${name} ${scale}x failed: ${child.stderr}`);
  return Number(child.stdout);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      child: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      cases: { type: 'string', default: 'par8,one' },
      scales: { type: 'string', default: '1,2,4,8' },
    },
  });
  if (values.child !== undefined) {
    const [reader, name, scale] = JSON.parse(values.child);
    console.log(measure(reader, name, scale));
    return;
  }
  const scales = values.scales.split(',').map(Number);
  console.log('Assembling tool calls on Node, ms (goals: A1 at most 1.5 x floor at full size, A2 t(8x)/t(4x) at most 2.6)\n');
  console.log(`| case | reader | ${scales.map((scale) => `${scale}x`).join(' | ')} | x floor | last doubling |`);
  console.log(`|---|---|${'---|'.repeat(scales.length + 2)}`);
  for (const name of values.cases.split(',')) {
    const times = new Map<string, number[]>();
    // Readers take turns within a round, so that a busy moment of the machine hits both; ratios are paired.
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const scale of scales) {
        for (const reader of Object.keys(readers)) {
          const key = `${reader} ${scale}`;
          times.set(key, [...(times.get(key) ?? []), measureApart(reader, name, scale)]);
        }
      }
    }
    const of = (reader: string, scale: number | undefined): number[] => times.get(`${reader} ${scale}`) ?? [];
    let floorGrowth = 0;
    for (const reader of Object.keys(readers)) {
      const full = of(reader, scales.at(-1));
      const ratio = median(full.map((ms, round) => ms / (of('floor', scales.at(-1))[round] ?? Number.NaN)));
      const growth = median(full) / median(of(reader, scales.at(-2)));
      if (reader === 'floor') floorGrowth = growth;
      // Garbage collection makes the floor's own doublings uneven.
      else if (ratio > 1.5 || growth > Math.max(2.6, floorGrowth * 1.2)) process.exitCode = 1;
      console.log(
        `| ${name} | ${reader} | ${scales.map((scale) => median(of(reader, scale)).toFixed(1)).join(' | ')} | ${ratio.toFixed(2)} | ${growth.toFixed(2)} |`,
      );
    }
  }
  measureRepair();
}

/** Whole arguments and nine kinds of damage to them, at 100 kB and 1 MB; larger texts than the cap are refused. */
function measureRepair(): void {
  const whole = (bytes: number): string => argumentsJson(bytes, 0);
  const kinds: Record<string, (text: string) => string> = {
    whole: (text) => text,
    truncated: (text) => text.slice(0, -text.length / 3),
    fence: (text) => `\`\`\`json\n${text}\n\`\`\``,
    'trailing commas': (text) => text.replaceAll('}', ',}'),
    'raw newlines': (text) => text.replaceAll('\\n', '\n'),
    'single quotes': (text) => text.replaceAll('\\"', '').replaceAll('"', "'"),
    'bare keys': (text) => text.replaceAll(/"(id|path|note)":/g, '$1:'),
    'Python literals': (text) => text.replaceAll(/"id":\d+/g, '"id":None'),
    'unescaped quotes': (text) => text.replaceAll('\\"', '"'),
    'missing closers': (text) => text.replaceAll('}', ''),
  };
  const time = (work: () => unknown): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  console.log('\nReading arguments, ms (goal R1: whole at most 1.1 x JSON.parse; anything up to 1 MB in at most 150)\n');
  console.log('| text | 100 kB | 1 MB | outcome |\n|---|---|---|---|');
  for (const [kind, damage] of Object.entries(kinds)) {
    const texts = [100_000, 1_000_000].map((bytes) => damage(whole(bytes)));
    const times = texts.map((text) => median([0, 1, 2].map(() => time(() => readArguments(text, { ended: true, length: false })))));
    const parse = kind !== 'whole' ? 0 : median([0, 1, 2, 3, 4].map(() => time(() => JSON.parse(texts[1] ?? ''))));
    const outcomes = texts.map((text) => readArguments(text, { ended: true, length: false }).state);
    if (Math.max(...times) > 150) process.exitCode = 1;
    const note = kind === 'whole' ? `, JSON.parse ${parse.toFixed(1)}` : '';
    console.log(`| ${kind} | ${times.map((ms) => ms.toFixed(1)).join(' | ')} | ${outcomes.join(', ')}${note} |`);
  }
}

main();

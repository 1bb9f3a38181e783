/**
 * The cost of parsing damaged arguments: valid ones and nine kinds of damage, at 100 kB and 1 MB; texts larger than the cap are rejected.
 * Exit code 1 when a text takes longer than its goal.
 */
import { readArguments } from '../src/core/json/json-repair.ts';
import { argumentsJson } from './assembly-streams.ts';
import { median } from './load.ts';

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
  console.log('\nReading arguments, ms (goal: valid ones at most 1.1 x JSON.parse; anything up to 1 MB in at most 150)\n');
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

measureRepair();

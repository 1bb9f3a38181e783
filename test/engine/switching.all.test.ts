/**
 * Another model in the middle of a tool loop, and between turns: every ordered pair of providers, over the real engine, the real adapters
 * and strict fakes of the APIs. Prints the matrix of pairs.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { checkExchange } from './switching-check.ts';
import { anthropic, cohere, deepseek, gemini, openai, type Participant, responses, text, vertex } from './switching-speakers.ts';
import {
  converse,
  type Cue,
  type Exchange,
  inputImage,
  type Speaker,
  type Spoken,
  type SpokenCall,
  type TurnOrder,
} from './switching-turn.ts';
import { printStatistics } from '../statistics.ts';

const participants: readonly Participant[] = [openai, responses, anthropic, gemini, cohere, text, deepseek, vertex];
const pairs = participants.flatMap((a) => participants.map((b) => [a.access.name, b.access.name, a, b] as const));

const terminal = (name: string, command: string): SpokenCall => ({ name, canonical: 'local.terminal', arguments: { command } });
const readFile = (name: string, path: string): SpokenCall => ({ name, canonical: 'local.read_file', arguments: { path } });
const note = (name: string, args: Record<string, unknown>): SpokenCall => ({ name, canonical: 'local.take_note', arguments: args });

const photo = [
  { type: 'text' as const, text: 'What is in here, and on the disk?' },
  { type: 'image' as const, mediaType: 'image/png', data: inputImage },
];
const words = (said: string) => [{ type: 'text' as const, text: said }];

/** One call by its wire name and one by an alias. */
const firstSaid = {
  reasoning: 'Two things are to be looked at: the disk and the photo.',
  text: 'I look at both.',
  calls: [terminal('terminalRun', 'df -h "/"'), readFile('cat', '/photos/1 é.png')],
};
const richNote = { title: 'a "quoted" \\ line\nand 😀', tags: ['x', 'ÿ'], at: { deep: [1, 2.5, null, true, { e: 1e3 }] } };
/** Under a name that folds to its tool. */
const secondSaid = {
  reasoning: 'The disk is gone, which is worth a note of its own.',
  text: 'I note it.',
  calls: [note('TakeNote', richNote)],
};
const thirdSaid = { reasoning: 'Nothing is left to do here.', text: 'The disk is gone; the photo shows a cat.' };
/** By current names and an old alias, one without arguments. */
const fourthSaid = {
  reasoning: 'Once more with the tools of today.',
  text: 'Again.',
  calls: [note('note_down', {}), terminal('shell', 'ls'), readFile('show', '/x')],
};
/** Each of two tools by the name that the other had. */
const exchangedSaid = {
  reasoning: 'The names are others now.',
  text: 'Once again.',
  calls: [terminal('open_file', 'ls -l'), readFile('run_shell', '/y')],
};
const lastSaid = { text: 'That was all.' };

const says = (by: Speaker, said: Spoken): Cue => ({ by, does: 'says', says: said });
const fails = (by: Speaker): Cue => ({ by, does: 'fails' });
const cut = (by: Speaker, said: Spoken): Cue => ({ by, does: 'cut', says: said });

/** Step 1 on a, step 2 on b because a fails (`missing`), step 3 on a again; then a turn on b with other names. */
function withinLoop(a: Speaker, b: Speaker, missing: readonly Cue[]): TurnOrder[] {
  const isOther = a !== b;
  return [
    {
      ...{ model: a, edition: 0, input: photo },
      ...(isOther && { fallbacks: [b] }),
      cues: [says(a, firstSaid), ...missing, says(b, secondSaid), says(a, thirdSaid)],
    },
    { model: b, edition: 1, input: words('And now?'), cues: [says(b, fourthSaid), says(b, lastSaid)] },
  ];
}

/** A turn on a, one on b, and one on a with other names. */
function betweenTurns(a: Speaker, b: Speaker): TurnOrder[] {
  const unknown: SpokenCall = { name: 'weather.now', canonical: null, arguments: { city: 'Paris' } };
  return [
    { model: a, edition: 0, input: photo, cues: [says(a, { ...firstSaid, calls: [...firstSaid.calls, unknown] }), says(a, thirdSaid)] },
    { model: b, edition: 0, input: words('Note that.'), cues: [says(b, secondSaid), says(b, lastSaid)] },
    { model: a, edition: 1, input: words('And now?'), cues: [says(a, fourthSaid), says(a, { text: 'Done.' })] },
  ];
}

async function play(orders: readonly TurnOrder[]): Promise<Exchange[]> {
  const { exchanges, events, faults } = await converse(orders);
  expect(faults).toEqual([]);
  expect(events.filter(({ type }) => type === 'turn-end')).toEqual(
    orders.map((_, index) => expect.objectContaining({ turn: `turn_${index + 1}`, status: 'completed', reason: 'stop' })),
  );
  for (const exchange of exchanges) checkExchange(exchange, (speaker) => speaker as Participant);
  return exchanges;
}

const halfSaid = {
  reasoning: 'Half of this is lost.',
  text: 'I was about to say something quite long, and then to do',
  calls: [terminal('terminalRun', 'echo one two three four five six seven eight nine ten eleven twelve')],
};

describe('another model in the middle of a conversation', () => {
  const green = new Map<string, Set<string>>();

  it.each(pairs)('continues from %s to %s and back, in a tool loop and between turns', async (from, to, a, b) => {
    // A failed request is retried with the same model; three failures are the limit.
    const refusing = await play(withinLoop(a, b, a === b ? [fails(a)] : [fails(a), fails(a), fails(a)]));
    // What was sent to a before b took over was right as well.
    expect(refusing).toHaveLength(a === b ? 6 : 8);
    const broken = await play(withinLoop(a, b, a === b ? [cut(a, halfSaid)] : [cut(a, halfSaid), cut(a, halfSaid)]));
    for (const { body } of broken) expect(body).not.toContain('Half of this is lost');
    await play(betweenTurns(a, b));
    green.set(from, (green.get(from) ?? new Set()).add(to));
  });

  it.each(participants.filter((one) => one !== text).map((one) => [one.access.name, one] as const))(
    'sends no data that %s must get back to another account there',
    async (name, one) => {
      const baseUrl = one.access.baseUrl.replace('://', '://other-');
      const other: Participant = { ...one, access: { ...one.access, name: `other-${name}`, baseUrl } };
      await play(withinLoop(one, other, [fails(one), fails(one), fails(one)]));
    },
  );

  it.each(participants.map((one) => [one.access.name, one] as const))(
    'names each call for %s as its own tool is named, after two tools swapped names, and after they swapped back',
    async (_name, one) => {
      const exchanges = await play([
        { model: one, edition: 1, input: photo, cues: [says(one, fourthSaid), says(one, thirdSaid)] },
        { model: one, edition: 2, input: words('And now?'), cues: [says(one, exchangedSaid), says(one, lastSaid)] },
        { model: one, edition: 1, input: words('And again?'), cues: [says(one, lastSaid)] },
      ]);
      expect(exchanges).toHaveLength(5);
    },
  );

  afterAll(() => {
    const names = participants.map(({ access }) => access.name);
    const width = Math.max(...names.map((name) => name.length)) + 1;
    const rows = names.map((from) => from.padEnd(width) + names.map((to) => (green.get(from)?.has(to) ? '✓' : '✗').padEnd(width)).join(''));
    const count = [...green.values()].reduce((sum, found) => sum + found.size, 0);
    const lines = [''.padEnd(width) + names.map((name) => name.padEnd(width)).join(''), ...rows];
    printStatistics(`pair matrix: ${count} of ${pairs.length} pairs green (rows: first model, columns: second)\n${lines.join('\n')}`);
  });
});

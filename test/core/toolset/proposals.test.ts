/**
 * Proposals, including the test cases of the naming ADR's design (`reference/seeds.md` §4.1, §4.2). Differences:
 * - There every tool of a character was proposed at 0.5 and more; here the conversation must contain evidence for it.
 * - There the caller gave a setting (practice, exploration, assessment), which raised some tools; here the category
 *   is evidence like other words, and the tools are the workspace's own.
 * - There scores compared the spelling of a list (`MindMap` never got its boost); here they use canonical tools.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import type { Message } from '../../../src/core/model/message.ts';
import { rankProposals } from '../../../src/core/toolset/proposals.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { maxProposalCharacters, maxProposals } from '../../../src/core/toolset/proposals.ts';

const ui = {
  camera: {
    label: 'Camera',
    description: 'Takes a photo of homework. Needs a webcam.',
    category: 'upload',
    triggers: ['photo', 'take a picture'],
    href: '/camera',
  },
  quiz: { label: 'Quiz', description: 'Asks questions about a topic.', category: 'practice', triggers: ['test me', 'quiz me'] },
  flashcard: {
    label: 'Flashcards',
    description: 'Makes cards to learn vocabulary with.',
    category: 'practice',
    triggers: ['foreign words drill'],
  },
  mindmap: {
    label: 'Mind map',
    description: 'Draws how ideas hang together.',
    category: 'exploration',
    triggers: ['brainstorm', 'überblick'],
  },
  shashin: { label: '写真', description: '宿題の写真を撮ります。', category: 'アップロード', triggers: ['撮影', 'カメラ'] },
  chart: { label: 'Chart', description: 'Shows numbers.', category: 'create', triggers: [] },
};
type Name = keyof typeof ui;

const definitionOf = (name: string, fields: (typeof ui)[Name]) =>
  toolOf('ui', name, { kind: 'ui', description: fields.description, ui: fields });
const definitions = Object.entries(ui).map(([name, fields]) => definitionOf(name, fields));
const { edition } = await compile(
  { tools: [...Object.keys(ui).map((name) => ({ tool: `ui.${name}` })), { tool: 'web.photo' }] },
  knownTools([...definitions, toolOf('web', 'photo')]),
);

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
const assistant = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }] });
const propose = (...messages: Message[]) => rankProposals(edition.tools, () => messages);
const scores = (...messages: Message[]) => propose(...messages).map(({ canonical, relevance }) => [canonical.slice(3), relevance]);

describe('the tools that an agent lists', async () => {
  const listed = await compile(
    {
      tools: [
        { tool: 'study.create_mindmap', aliases: [{ name: 'brainstorm', mode: 'hidden' }] },
        { tool: 'study.cat', description: 'Shows pictures of animals.\n\nMentions homework and photos.' },
        { tool: 'builtin.create_tool' },
        { tool: 'ui.camera' },
      ],
    },
    knownTools([...definitions, toolOf('study', 'create_mindmap'), toolOf('study', 'cat'), toolOf('builtin', 'create_tool')]),
  );
  const proposedFor = (...messages: Message[]) =>
    rankProposals(listed.edition.tools, () => messages, true).map(({ canonical }) => canonical);

  it('are proposed by their names, with and without the verb, and by the first line of their description', () => {
    expect(rankProposals(listed.edition.tools, () => [user('A mindmap, please')], true)).toEqual([
      {
        canonical: 'study.create_mindmap',
        label: 'Create mindmap',
        text: expect.stringContaining('mindmap'),
        relevance: 1,
        category: 'tool',
      },
    ]);
    expect(proposedFor(user('Let us brainstorm'))).toEqual(['study.create_mindmap']);
    expect(proposedFor(user('pictures of animals'))).toEqual(['study.cat']);
    expect(proposedFor(user('my cat'), assistant('create tool'))).toEqual([]);
    expect(proposedFor(user('hello'), assistant('I can create a mindmap.'))).toEqual([]);
    expect(proposedFor(user('a photo of the mindmap'))).toEqual(['study.create_mindmap', 'ui.camera']);
  });

  it('are not proposed if the turn called them, or if the agent lists none', () => {
    const part = { type: 'tool-call', callId: 'c', requested: 'x', canonical: 'study.create_mindmap', via: 'wire', arguments: {} } as const;
    expect(proposedFor(user('A mindmap'), { role: 'assistant', parts: [part] }, assistant('Here is the mindmap.'))).toEqual([]);
    expect(rankProposals(listed.edition.tools, () => [user('A mindmap')])).toEqual([]);
  });
});

describe('rankProposals', () => {
  it('proposes a tool with full relevance by one of its triggers, with a sentence and its link', () => {
    expect(propose(user('Can I take a picture of it?'))).toEqual([
      {
        canonical: 'ui.camera',
        label: 'Camera',
        text: 'Camera (“take a picture”): Takes a photo of homework.',
        relevance: 1,
        category: 'upload',
        href: '/camera',
      },
    ]);
  });

  it('names no topic if none was mentioned', () => {
    expect(propose(user('Some practice, please'))[0]).toMatchObject({ canonical: 'ui.quiz', text: 'Quiz: Asks questions about a topic.' });
    expect(propose(user('a quiz?'))[0]).toMatchObject({ canonical: 'ui.quiz', text: 'Quiz: Asks questions about a topic.' });
  });

  it('finds a trigger in any case, without its accents, in other widths and between any punctuation', () => {
    for (const text of ['TAKE A PICTURE', 'táke á pictüre', 'Ｔａｋｅ　ａ　ｐｉｃｔｕｒｅ', '(take—a "picture")', 'take\na\tpicture!'])
      expect(scores(user(text)), text).toEqual([['camera', 1]]);
    expect(scores(user('Ein Uberblick'))).toEqual([['mindmap', 1]]);
  });

  it('matches whole words only', () => {
    expect(scores(user('photosynthesis in telephotography'))).toEqual([]);
    expect(scores(user('take a picturesque road'))).toEqual([]);
  });

  it('scores scattered trigger words at most 0.9, by their share, and a single word not at all', () => {
    expect(scores(user('the picture that you take'))).toEqual([['camera', 0.9]]);
    expect(scores(user('drill me on words'))).toEqual([['flashcard', 0.6]]);
    expect(scores(user('I take the bus'))).toEqual([]);
  });

  it('scores a label 0.85 and a category 0.75, ties in toolset order', () => {
    expect(scores(user('draw me a mind map'))).toEqual([['mindmap', 0.85]]);
    expect(scores(user('I want to practice'))).toEqual([
      ['quiz', 0.75],
      ['flashcard', 0.75],
    ]);
  });

  it('scores two words of a description 0.5, and more words a little higher', () => {
    expect(scores(user('cards with vocabulary'))).toEqual([['flashcard', 0.5]]);
    expect(scores(user('make me cards for the vocabulary I learn'))).toEqual([['flashcard', 0.55]]);
    expect(scores(user('these ideas'))).toEqual([]);
  });

  it('ranks by relevance', () => {
    const ranked = scores(user('test me on the mind map, with a photo of the vocabulary cards'));
    expect(ranked).toEqual([
      ['camera', 1],
      ['quiz', 1],
      ['mindmap', 0.85],
      ['flashcard', 0.5],
    ]);
  });

  it('weighs the last user message most, then earlier ones, then the answer', () => {
    expect(scores(user('test me'), user('by photo'), assistant('We could brainstorm.'))).toEqual([
      ['camera', 1],
      ['quiz', 0.85],
      ['mindmap', 0.7],
    ]);
  });

  it('ignores user messages before the last three', () => {
    expect(scores(user('test me'), user('one'), user('two'), user('three'))).toEqual([]);
  });

  it('proposes nothing again for what was said before an earlier answer', () => {
    expect(scores(user('test me'), assistant('Sure.'), user('thanks'), assistant('You are welcome.'))).toEqual([]);
    expect(scores(user('test me'), assistant('brainstorm'), user('by photo'))).toEqual([['camera', 1]]);
    expect(scores(user('test me'), assistant('Sure.'), user('go on'), assistant('You said: test me.'))).toEqual([]);
    expect(scores(user('test me'), assistant('Sure.'), user('Test me again'))).toEqual([['quiz', 1]]);
  });

  it('takes a message while the turn was waiting into account, whose calls have no text', () => {
    const calls: Message = { role: 'assistant', parts: [] };
    expect(scores(user('test me'), calls, user('by photo'), assistant('Done.'))).toEqual([
      ['camera', 1],
      ['quiz', 0.85],
    ]);
  });

  it('ignores tool results and instructions', () => {
    const result = { type: 'tool-result', callId: 'c', requested: 'x', canonical: 'a.x', isError: false } as const;
    const messages: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: 'photo' }] },
      user('go'),
      { role: 'tool', parts: [{ ...result, content: [{ type: 'text', text: 'test me' }] }] },
    ];
    expect(propose(...messages)).toEqual([]);
  });

  it('finds triggers in scripts without spaces, but not single characters', () => {
    expect(scores(user('ノートを撮影したいです'))).toEqual([['shashin', 1]]);
    expect(scores(user('カメラで'))).toEqual([['shashin', 1]]);
    expect(scores(user('宿題の写真'))).toEqual([['shashin', 0.85]]);
    expect(scores(user('影絵、撮り鉄'))).toEqual([]);
    // Voicing marks distinguish syllables; they are not accents.
    expect(scores(user('ガメラ'))).toEqual([]);
    expect(propose(user('撮影'))[0]?.text).toBe('写真 (“撮影”): 宿題の写真を撮ります。');
  });

  it('proposes nothing without text or evidence', () => {
    expect(propose()).toEqual([]);
    expect(propose(user(''))).toEqual([]);
    expect(propose(user('What about those that they would have with this?'))).toEqual([]);
  });

  it('proposes only ready UI tools, each once', () => {
    const [camera] = edition.tools;
    const said = () => [user('photo')];
    if (camera === undefined) throw new Error('the edition has a camera');
    const among = (...tools: EditionTool[]) => rankProposals(tools, said).map(({ canonical }) => canonical);
    expect(among({ ...camera, state: 'held' }, { ...camera, state: 'missing' }, { ...camera, kind: 'static' })).toEqual([]);
    expect(among(camera, { ...camera, wireName: 'lens' as typeof camera.wireName })).toEqual(['ui.camera']);
  });

  it('does not read the conversation without UI tools', () => {
    const tools = edition.tools.filter(({ kind }) => kind !== 'ui');
    const ask = () => {
      throw new Error('asked');
    };
    expect(rankProposals(tools, ask)).toEqual([]);
  });

  it('limits the number of proposals', async () => {
    const many = Array.from({ length: 12 }, (_, index) => definitionOf(`camera${index}`, ui.camera));
    const all = await compile({ tools: many.map(({ canonical }) => ({ tool: canonical })) }, knownTools(many));
    expect(rankProposals(all.edition.tools, () => [user('photo')]).map(({ canonical }) => canonical)).toEqual(
      Array.from({ length: maxProposals }, (_, index) => `ui.camera${index}`),
    );
  });

  it('reads a bounded part of a message', () => {
    expect(scores(user(`${'x '.repeat(maxProposalCharacters / 2)}photo`))).toEqual([]);
    expect(scores(user(`photo${' x'.repeat(maxProposalCharacters)}`))).toEqual([['camera', 1]]);
  });

  it('shows one line of any description', async () => {
    const wild = definitionOf('wild', { ...ui.chart, description: `Does\u2028## Tool names\nmore ${'x'.repeat(500)}`, triggers: ['go'] });
    const { edition: one } = await compile({ tools: [{ tool: 'ui.wild' }] }, knownTools([wild]));
    const text = rankProposals(one.tools, () => [user('go')])[0]?.text ?? '';
    expect(text).toBe('Chart (“go”): Does ## Tool names');
  });

  it('is deterministic: sorted, between 0.5 and 1, and only for UI tools', () => {
    const words = ['photo', 'take', 'a', 'picture', 'quiz', 'me', 'test', '撮影', 'practice', 'ideas', 'hang', '\u0301', 'ﷺ', '🙂', 'İ'];
    const message = fc.record({
      by: fc.boolean(),
      text: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(fc.constantFrom(...words)).map((all) => all.join(' ')),
      ),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (said) => {
        const messages = said.map(({ by, text }) => (by ? user(text) : assistant(text)));
        const found = propose(...messages);
        const relevances = found.map(({ relevance }) => relevance);
        expect(relevances).toEqual([...relevances].sort((a, b) => b - a));
        for (const { canonical, relevance } of found) {
          expect(canonical).toMatch(/^ui\./);
          expect(relevance >= 0.5 && relevance <= 1).toBe(true);
        }
        expect(propose(...messages)).toEqual(found);
      }),
      { numRuns: 40 },
    );
  });
});

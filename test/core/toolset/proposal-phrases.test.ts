/**
 * What a person says, and the tools that are proposed for it: the tools of the naming ADR's design (`reference/seeds.md` §4) as an agent lists
 * them, with their own names, and UI tools with labels and triggers in ten languages.
 */
import { describe, expect, it } from 'vitest';
import { rankProposals } from '../../../src/core/toolset/proposals.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { acceptNames } from '../../../src/core/toolset/allow-list.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const described: Record<string, string> = {
  'study.create_mindmap': 'Draws the ideas of a topic as branches around its center.',
  'study.create_quiz': 'Asks multiple-choice questions about a lesson.',
  'study.create_flashcards': 'Writes cards with a question at the front and an answer at the back.',
  'study.create_timeline': 'Puts historical events in their order.',
  'study.create_summary': 'Shortens a chapter to its main statements.',
  'study.create_pdf': 'Prints a document.',
  'study.web_search': 'Finds current articles with sources.',
  'study.get_time': 'Returns what a clock shows.',
  'study.read_file': 'Returns the content of a stored document.',
  'study.cat': 'Shows pictures of animals.',
  'study.htmlInteractive': 'Renders an interactive experiment.',
};
const maps: Record<string, [label: string, ...triggers: string[]]> = {
  zh: ['思维导图', '画一张导图'],
  ja: ['マインドマップ', '相関図'],
  ko: ['마인드맵', '생각 정리'],
  th: ['แผนที่ความคิด', 'ผังความคิด'],
  de: ['Gedankenkarte', 'Ideen ordnen'],
  fr: ['Carte mentale', 'schéma heuristique'],
  es: ['Mapa mental', 'lluvia de ideas'],
  ru: ['Интеллект-карта', 'карта мыслей'],
  ar: ['خريطة ذهنية', 'خريطة المفاهيم'],
  vi: ['Sơ đồ tư duy', 'bản đồ ý tưởng'],
};
const pages = Object.entries(maps).map(([language, [label, ...triggers]]) =>
  toolOf('ui', language, { kind: 'ui', description: '', ui: { label, description: '', category: 'exploration', triggers } }),
);
const quiz = { label: 'Quiz', description: 'Asks questions.', category: 'practice', triggers: ['test me'] };
const tools = [
  ...Object.entries(described).map(([canonical, description]) => {
    const [server = '', name = ''] = canonical.split('.');
    return toolOf(server, name, { description });
  }),
  ...pages,
];
const entries = tools.map(({ canonical }) => ({ tool: canonical, ...(canonical === 'study.htmlInteractive' && { aliases: ['demo'] }) }));
const { edition } = await compile({ tools: entries }, knownTools(tools));
const names = acceptNames(buildAliasMap(edition, { aliases: true }), {
  MindMap: 'study.create_mindmap',
  Karteikarten: 'study.create_flashcards',
});
const proposed = (text: string): string[] =>
  rankProposals(names.tools, () => [{ role: 'user', parts: [{ type: 'text', text }] }], true).map(({ canonical }) => canonical);

const found: Record<string, readonly string[]> = {
  'study.create_quiz': [
    'make me a quiz',
    'Make me a quiz!',
    'a quiz, please',
    'quiz',
    'Quizzes about Rome',
    'Create a quiz on fractions',
    'Ein Quiz bitte',
    'fais-moi un quiz ?',
    '¿Me haces un quiz?',
    'クイズ quiz を作って',
    'multiple choice questions for this lesson',
  ],
  'study.create_mindmap': [
    'a mind map',
    'A mindmap of photosynthesis',
    'draw me a mind-map',
    'Mind\u2011Map',
    'mind\u00a0map, bitte',
    'mind maps for both chapters',
    'MindMap',
    'Can you create a mindmap?',
    'show the ideas of the topic as branches',
  ],
  'study.create_flashcards': [
    'flashcards',
    'flash cards for chapter 3',
    'a flashcard for each word',
    'flash-cards',
    'Karteikarten zum Thema',
    'make flashcards',
  ],
  'study.create_timeline': ['a timeline of the war', 'time line', 'Timelines of both'],
  'study.create_summary': ['a summary of this', 'summaries', 'create summary'],
  'study.create_pdf': ['create a pdf', 'make me a PDF', 'generate the pdf'],
  'study.web_search': ['search the web', 'web search', 'websearch for it', 'can you search for flights on the web?', 'web-search'],
  'study.get_time': ['get the time', 'get time'],
  'study.read_file': ['read the file', 'read my file'],
  'study.htmlInteractive': ['a demo', 'html interactive', 'an interactive experiment', 'demos'],
  'study.cat': ['pictures of animals'],
  'ui.zh': ['请做一张思维导图', '思维 导图', '思维　导图！', '帮我画一张导图吧'],
  'ui.ja': ['マインドマップを作って', 'マインド マップ', 'マインド・マップ', '相関図'],
  'ui.ko': ['마인드맵을 만들어 줘', '마인드 맵', '생각정리가 필요해'],
  'ui.th': ['ช่วยทำแผนที่ความคิดหน่อย', 'แผนที่ ความคิด', 'แผนที่\u200bความคิด'],
  'ui.de': ['eine Gedankenkarte', 'Gedanken-Karte', 'Ideen\u00a0ordnen'],
  'ui.fr': ['une carte mentale ?', 'carte\u202fmentale', 'schema heuristique'],
  'ui.es': ['un mapa mental', '¡Lluvia de ideas!', 'mapa-mental'],
  'ui.ru': ['интеллект карта', 'Интеллект\u2011карта', 'карта мыслей'],
  'ui.ar': ['أريد خريطة ذهنية', 'خَرِيطَة ذِهْنِيَّة', 'خريطة\u00a0ذهنية'],
  'ui.vi': ['vẽ sơ đồ tư duy', 'Sơ-đồ tư-duy', 'bản đồ ý tưởng'],
};

const nothing: readonly string[] = [
  'hello',
  'Thank you very much!',
  'What is the capital of France?',
  'I do not mind the map on the wall',
  'Do you mind? Map the route.',
  'Never mind. Maps are not needed.',
  'my mind is made up',
  'a map of Italy',
  'remind me of mapping',
  'She is quizzical',
  'quizás mañana',
  'my cat',
  'the category of cats',
  'a concatenation',
  'I will be there in time',
  'at the same time',
  'it is time to go',
  'this line is long',
  'the file on my desk',
  'I read about it in a filing cabinet',
  'profile pictures',
  'a democracy',
  'the democratic vote',
  'demolition work',
  'spider webs in the attic',
  'we found it after a long search',
  'research on cobwebs',
  'flash floods and playing cards',
  'a flash of light',
  'the cards are on the table',
  'line up in time',
  'summarily dismissed',
  'the PDF is attached',
  'I make coffee. The pdf is old.',
  'photosynthesis in plants',
  'ten to the power of three',
  'what would those that they have be',
  'constructor prototype __proto__',
  '123 456',
  '???',
  '🙂🙂',
  'ich habe keine Zeit',
  'die Gedanken sind frei',
  'Karten spielen',
  'une carte postale',
  "c'est mental",
  'el mapa del metro',
  'lluvia en el norte',
  'карта метро',
  'интеллект человека',
  'خريطة المدينة',
  'الذهنية',
  'bản đồ Hà Nội',
  'sơ đồ tàu điện',
  '地图',
  '导航',
  '思考一下',
  'マップを見る',
  'ガメラとマント',
  '지도를 보여 줘',
  '마음',
  'แผนที่กรุงเทพ',
  'ความรัก',
];

describe('what a person says', () => {
  const rows = Object.entries(found).flatMap(([canonical, phrases]) => phrases.map((phrase) => [phrase, canonical] as const));

  it('has at least 60 phrases of each kind', () => {
    expect(Math.min(rows.length, nothing.length)).toBeGreaterThanOrEqual(60);
  });

  it.each(rows)('%j proposes %s, first of all', (phrase, canonical) => {
    expect(proposed(phrase)[0]).toBe(canonical);
  });

  it.each(nothing)('%j proposes nothing', (phrase) => {
    expect(proposed(phrase)).toEqual([]);
  });

  it('finds a UI tool by its names, too', async () => {
    const tool = toolOf('ui', 'mind_map', { kind: 'ui', description: '', ui: { ...quiz, label: 'Überblick', triggers: [] } });
    const other = await compile({ tools: [{ tool: 'ui.mind_map', aliases: ['brainstorm'] }] }, knownTools([tool]));
    const relevances = ['a mindmap', 'mind maps', 'brainstorming', 'my mind and a map'].map(
      (text) => rankProposals(other.edition.tools, () => [{ role: 'user', parts: [{ type: 'text', text }] }])[0]?.relevance,
    );
    expect(relevances).toEqual([0.85, 0.85, 0.85, undefined]);
  });
});

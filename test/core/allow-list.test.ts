import { describe, expect, it } from 'vitest';
import { matchAllowList } from '../../src/core/allow-list.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';

const known = knownTools([
  ...['create_mindmap', 'create_quiz', 'create_flashcards', 'create_demo', 'web_search'].map((name) => toolOf('study', name)),
  toolOf('a', 'get-logs'),
  toolOf('b', 'get_logs'),
]);
const { edition } = await compile(
  {
    tools: [
      { tool: 'study.create_mindmap', aliases: [{ name: 'mindmap', mode: 'hidden' }] },
      { tool: 'study.create_quiz', aliases: [{ name: 'quiz', mode: 'hidden' }] },
      {
        tool: 'study.create_flashcards',
        aliases: [
          { name: 'flashcard', mode: 'hidden' },
          { name: 'flashcards', mode: 'hidden' },
        ],
      },
      { tool: 'study.create_demo', aliases: [{ name: 'html-interactive', mode: 'hidden' }] },
      { tool: 'study.web_search' },
      { tool: 'study.web_search', name: 'quick_search' },
      { tool: 'a.get-logs' },
      { tool: 'b.get_logs' },
    ],
  },
  known,
);
const match = (...list: string[]): unknown[] => {
  const { allow, unmatched } = matchAllowList(edition, list);
  return [allow, unmatched];
};

describe('matchAllowList', () => {
  it('reads any convention', () => {
    expect(match('MindMap', 'Quiz', 'Flashcards', 'WebSearch')).toEqual([
      ['study.create_mindmap', 'study.create_quiz', 'study.create_flashcards', 'study.web_search'],
      [],
    ]);
    expect(match('HtmlInteractive')).toEqual([['study.create_demo'], []]);
    expect(match('web-search', 'create_mindmap', 'study.create_quiz', ' MindMap ')).toEqual([
      ['study.web_search', 'study.create_mindmap', 'study.create_quiz'],
      [],
    ]);
  });

  it('reports what matches nothing, and allows nothing for it', () => {
    expect(match('Task', 'Read', 'Write', 'Audio', 'Canvas')).toEqual([[], ['Task', 'Read', 'Write', 'Audio', 'Canvas']]);
    expect(match('Task', 'Read', 'MindMap', 'Quiz', 'pdf')).toEqual([
      ['study.create_mindmap', 'study.create_quiz'],
      ['Task', 'Read', 'pdf'],
    ]);
    expect(match('constructor', 'toString', '__proto__', 'Constructor')).toEqual([
      [],
      ['constructor', 'toString', '__proto__', 'Constructor'],
    ]);
  });

  it('allows nothing for an empty list', () => {
    expect(match()).toEqual([[], []]);
  });

  it('allows neither of two tools that a name fits, and reports it', () => {
    expect(match('GetLogs')).toEqual([[], ['GetLogs']]);
    expect(match('get-logs')).toEqual([['a.get-logs'], []]);
  });

  it('takes several entries of one tool for one', () => {
    expect(match('study.web_search', 'WebSearch', 'quick_search')).toEqual([['study.web_search'], []]);
  });
});

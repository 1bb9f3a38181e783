/**
 * Common work of agents, step by step: where the taint rule requires approval, and where it does not. Each question must protect private
 * data that could be sent because of the text of a page (contract §7); any other question is a bug.
 */
import { describe, expect, it } from 'vitest';
import { textResult } from '../../src/core/tools/tool.ts';
import { taintDoor, type TaintDoorOptions } from './taint-door.ts';

type Step = [name: string, args?: Record<string, unknown>];
const get = (host: string): Step => ['http_request', { url: `https://${host}.example/` }];
const post = (host: string): Step => ['http_request', { url: `https://${host}.example/`, method: 'POST', body: 'x' }];
const read: Step = ['read_file', { path: 'secret.txt' }];
const write: Step = ['write_file', { path: 'summary.md', content: 'In short.' }];

/** `asks`: the steps that wait, counted from 0. */
type Job = { job: string; steps: Step[]; asks: number[]; untrusted?: string; options?: TaintDoorOptions };

const weather: TaintDoorOptions['answer'] = async (_tool, _args, { secret, fetch }) => {
  await secret('WEATHER', 'api.example');
  return textResult(await (await fetch(new Request('https://api.example/weather'))).text());
};

const jobs: Job[] = [
  { job: 'sums up a file that it was given', steps: [read, write, ['bash', { command: 'wc -w summary.md secret.txt' }]], asks: [] },
  { job: 'reads a page and writes down what it says', steps: [get('page'), write, ['read_file', { path: 'summary.md' }]], asks: [] },
  { job: 'reads several pages and reports to a host', steps: [get('page'), get('other'), post('api')], asks: [] },
  // The first page could make the agent put what it was given into the second address.
  { job: 'reads a file that it was given, then pages', steps: [read, get('page'), get('page')], asks: [2] },
  { job: 'asks an API with a key, again and again', steps: [['items'], ['items'], ['items'], write], asks: [] },
  {
    job: 'looks at the weather with a local tool that has a key',
    steps: [['local_weather'], ['local_weather']],
    asks: [],
    options: { answer: weather },
  },
  { job: 'reads and writes in a trusted system', steps: [['crm_find'], ['crm_note'], ['crm_find'], ['crm_note']], asks: [] },
  { job: 'searches a public wiki, and keeps notes', steps: [['wiki_search'], write, ['wiki_search']], asks: [] },
  // A public issue could make the agent copy a private one into a public one.
  {
    job: 'reads issues with credentials, and files one',
    steps: [['tracker_get_issue'], ['tracker_get_user'], ['tracker_create_issue']],
    asks: [2],
  },
  { job: 'carries issues into a wiki search', steps: [['tracker_get_issue'], ['wiki_search']], asks: [1] },
  {
    job: 'is called by the public, and answers from a trusted system',
    untrusted: 'the body of a webhook',
    steps: [['crm_find'], ['crm_find'], write, ['crm_note']],
    asks: [3],
  },
  {
    job: 'is called by the public, and keeps to itself',
    untrusted: 'the body of a webhook',
    steps: [write, ['wiki_search'], get('page')],
    asks: [],
  },
  // The page could make the agent look up private data and put it into the second note.
  { job: 'reads a page, and notes it in a trusted system', steps: [get('page'), ['crm_note'], ['crm_find'], ['crm_note']], asks: [3] },
  {
    job: 'works on its own files and pages',
    steps: [write, ['bash', { command: 'curl -s https://page.example/ >> summary.md; cat summary.md own.txt' }], get('page')],
    asks: [],
  },
];

describe('an agent that', () => {
  it.each(jobs)('$job requires approval at $asks', async ({ steps, asks, untrusted, options = {} }) => {
    const { call, marks } = taintDoor(options);
    if (untrusted !== undefined) marks.mark('untrusted', untrusted);
    const asked: number[] = [];
    for (const [index, [name, args = {}]] of steps.entries()) {
      const answer = await call(name, args);
      if (answer.asked !== null) asked.push(index);
      expect([index, answer.asked?.kind ?? 'taint', answer.isError]).toEqual([index, 'taint', false]);
    }
    expect(asked).toEqual(asks);
  });
});

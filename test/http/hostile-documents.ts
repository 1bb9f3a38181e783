/**
 * Mutated documents of the kinds that a toolset consists of: any place may have any value. A write returns an error with a path of the
 * request, or stores a document that can be read and sent back; there are no internal errors. Works with any catalog.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { bodyOf } from './harness.ts';
import { plainTool, putBack, serverOf, type Send } from './hostile-rows.ts';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const object = { type: 'object', properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] }, token: { type: 'string' } } };

/** One document of each kind with all its fields. */
export const valid: Record<string, { path: string; body: Json }> = {
  server: {
    path: '/v1/servers/weather',
    body: {
      name: 'weather',
      ...(serverOf([
        {
          name: 'get_weather',
          description: 'Weather of a city.',
          inputSchema: { ...object, required: ['city'] },
          outputSchema: { type: 'object', properties: { degrees: { type: 'number' } } },
          annotations: { readOnlyHint: true, title: 'Weather' },
        },
        plainTool('get_wind'),
      ]) as { [key: string]: Json }),
      headers: { authorization: { secret: 'TOOLS' }, 'x-plain': 'yes' },
      trusted: true,
      instructions: 'Ask for one city at a time.',
    },
  },
  toolset: {
    path: '/v1/toolsets/daily',
    body: {
      name: 'daily',
      description: 'For each day.',
      announce: 'prompt',
      onDemandAbove: 10,
      tools: [
        {
          tool: 'steady.get_city',
          name: 'city_of',
          aliases: ['city', { name: 'town', mode: 'deprecated', note: 'use city_of' }],
          description: 'The city.',
          notes: [{ name: 'when', note: 'In the morning.' }],
          arguments: { preset: { unit: 'c', token: { caller: 'team' } }, rename: { place: 'city' }, default: { city: 'Ulm' } },
          result: { maxBytes: 1024, pick: ['/degrees'] },
          approval: 'policy',
          alwaysOffered: true,
        },
        { tool: 'builtin.bash' },
      ],
    },
  },
  skill: {
    path: '/v1/skills/notes',
    body: {
      name: 'notes',
      content: '---\nname: notes\ndescription: Keeps notes.\nallowed-tools: Bash(git:*)\n---\nUse the `bash` tool.\n',
      resources: { 'scripts/run.sh': 'ls\n', 'a.bin': { base64: 'AAEC' }, 'a.txt': { text: 'A' } },
    },
  },
  agent: {
    path: '/v1/agents/helper',
    body: {
      name: 'helper',
      description: 'Helps.',
      model: 'rehearsal/default',
      fallbacks: ['rehearsal/other'],
      instructions: 'Help.',
      toolset: 'steady',
      tools: ['get_city'],
      skills: ['notes'],
      protocol: 'native',
      settings: { temperature: 0.5, topP: 1, maxOutputTokens: 100, reasoningEffort: 'low' },
      limits: { maxSteps: 3, maxCalls: 5, toolTimeoutMs: 100, maxTokens: 1000 },
    },
  },
  'ui-tool': {
    path: '/v1/tools/ui.camera',
    body: { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo', 'take a picture'], href: '/camera' },
  },
  'default aliases': { path: '/v1/tools/builtin.bash/aliases', body: { aliases: ['shell', 'terminal'] } },
};

/** The documents, and the documents that they name. */
export async function prepareDocuments(send: Send): Promise<void> {
  const tool = { ...plainTool('get_city'), inputSchema: object as unknown };
  expect((await send('PUT', '/v1/servers/steady', serverOf([tool]))).status).toBe(201);
  expect((await send('PUT', '/v1/toolsets/steady', { tools: [{ tool: 'steady.get_city' }] })).status).toBe(201);
  for (const { path, body } of Object.values(valid)) {
    const made = await send('PUT', path, body);
    expect([path, made.status, made.status < 300 ? '' : await made.text()]).toEqual([path, 201, '']);
    await readBack(send, path);
  }
}

/** Names of Object.prototype, and texts that are invalid names, too long or not strings. */
export const hostileTexts: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'toJSON', '__defineGetter__'],
  ...['', ' ', '\u0000', '\ud800', '\u202e', '../..', '%2e%2e', '{{x}}', '$ref', '/~2', 'x'.repeat(5_000)],
];

const hostile: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.constantFrom<Json>(null, true, 0, -1, 1e308, 1.5, [], {}, [[]], { secret: 'NONE' }, { caller: '' }, { value: null }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
);

export type Spoiling = { at: number; how: 'replace' | 'remove' | 'add' | 'repeat'; name: string; value: Json };

export const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  at: fc.nat(1_000),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  name: fc.oneof(fc.constantFrom(...hostileTexts), fc.string()),
  value: hostile,
});

/** Every place of a document, starting with the root. */
export function placesOf(value: Json, base: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[...base]];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [[...base], ...members.flatMap(([key, member]) => placesOf(member, [...base, key]))];
}

export function spoilt(document: Json, { at, how, name, value }: Spoiling): Json {
  const places = placesOf(document);
  const place = places[at % places.length] ?? [];
  const change = (part: Json, [key, ...rest]: readonly (string | number)[]): Json => {
    if (key === undefined) {
      if (how === 'add' && typeof part === 'object' && part !== null && !Array.isArray(part)) return withMember(part, name, value);
      return how === 'repeat' && Array.isArray(part) ? [...part, ...part] : value;
    }
    if (Array.isArray(part)) {
      const isGone = how === 'remove' && rest.length === 0;
      return part.flatMap((member, index) => (index !== key ? [member] : isGone ? [] : [change(member, rest)]));
    }
    // Places belong to this document, so a value with members is an object here.
    const members = Object.entries(part as { [key: string]: Json });
    const kept = members.filter(([own]) => !(how === 'remove' && rest.length === 0 && own === key));
    return Object.fromEntries(kept.map(([own, member]) => [own, own === key ? change(member, rest) : member]));
  };
  return change(document, place);
}

/** Includes `__proto__`. */
function withMember(part: { [key: string]: Json }, name: string, value: Json): Json {
  return Object.fromEntries([...Object.entries(part), [name, value]]);
}

/** Writes the document; a rejection names its path and changes nothing, and a stored document is read back. */
export async function checkWrite(send: Send, path: string, document: Json): Promise<'stored' | 'refused'> {
  const before = await stateOf(send, path);
  const answer = await send('PUT', path, JSON.stringify(document));
  const body = await bodyOf(answer);
  const said = JSON.stringify([path, document, answer.status, body]);
  if (answer.status < 300) {
    expect([200, 201], said).toContain(answer.status);
    await readBack(send, path);
    return 'stored';
  }
  expect([409, 413, 422], said).toContain(answer.status);
  expect(body.detail, said).toEqual(expect.any(String));
  if (answer.status === 422) {
    expect(body.issues.length, said).toBeGreaterThan(0);
    for (const issue of body.issues) {
      expect(issue.message, said).toMatch(/\S/);
      expect(leadsInto(document, issue.path.replace(/^SKILL\.md.*$/, 'content')), `${issue.path} in ${said}`).toBe(true);
    }
  }
  expect(await stateOf(send, path), said).toEqual(before);
  return 'refused';
}

/** UI tools are read like other tools, with the written fields in `ui`. */
async function readBack(send: Send, path: string): Promise<void> {
  if (!path.startsWith('/v1/tools/ui.')) return await putBack(send, path);
  const shown = await bodyOf(await send('GET', path));
  const again = await send('PUT', path, shown.ui);
  expect([path, again.status, (await bodyOf(again)).issues]).toEqual([path, 200, undefined]);
  expect(await bodyOf(await send('GET', path))).toEqual(shown);
}

/** Returns the document with its ETag, and for a toolset the edition of a call. */
async function stateOf(send: Send, path: string): Promise<unknown[]> {
  const read = await send('GET', path);
  const state = [read.status, read.headers.get('etag'), await read.text()];
  if (!path.includes('/toolsets/')) return state;
  return [...state, (await send('GET', `${path}/resolve?name=builtin.bash`)).headers.get('x-moniker-edition')];
}

/** Returns whether a path names a part of the document, or a possible member of its objects. */
export function leadsInto(value: Json, path: string): boolean {
  if (path === '') return true;
  if (Array.isArray(value)) {
    const [whole, index] = /^\[(\d+)\]\.?/.exec(path) ?? [];
    return whole !== undefined && Number(index) < value.length && leadsInto(value[Number(index)] ?? null, path.slice(whole.length));
  }
  if (typeof value !== 'object' || value === null) return false;
  // Names may contain dots and brackets.
  return (
    Object.entries(value).some(
      ([key, member]) =>
        path.startsWith(key) && /^(?:$|\.|\[)/.test(path.slice(key.length)) && leadsInto(member, path.slice(key.length).replace(/^\./, '')),
    ) || !/[.[]/.test(path)
  );
}

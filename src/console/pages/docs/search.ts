/** Finds operations, schemas and tags by words. Every word must match; the best field of each word gives its score. */
import type { ApiOperation, ApiReference } from './reference.ts';
import { referredSchemas } from './reference.ts';

export type SearchResult = { kind: 'operation' | 'schema' | 'tag'; title: string; detail: string; method: string; href: string };
/** A searchable entry: its fields in lower case with the score of a match at the start of a word. */
type Entry = SearchResult & { fields: { text: string; words: readonly string[]; score: number }[] };

export type SearchIndex = readonly Entry[];

export function buildSearchIndex({ tags, operations, schemas }: ApiReference): SearchIndex {
  return [
    ...[...operations.values()].map(operationEntry),
    ...tags.map(({ name, description }) => ({
      ...{ kind: 'tag' as const, title: name, detail: description, method: '', href: `#tag/${encodeURIComponent(name)}` },
      fields: [field(name, 90), field(description, 10)],
    })),
    ...Object.entries(schemas).map(([name, schema]) => ({
      ...{ kind: 'schema' as const, title: name, detail: schema.description ?? '', method: '', href: `#schema/${name}` },
      fields: [field(name, 70), field(Object.keys(schema.properties ?? {}).join(' '), 12), field(schema.description ?? '', 8)],
    })),
  ];
}

function operationEntry(operation: ApiOperation): Entry {
  const { id, method, path, summary, tag, description, parameters } = operation;
  const names = [...referredSchemas([parameters, operation.requestBody])];
  const answered = operation.responses.filter(([status]) => status.startsWith('2'));
  return {
    ...{ kind: 'operation', title: summary, detail: path, method, href: `#operation/${id}` },
    fields: [
      field(id, 100),
      field(`${method} ${path}`, 80),
      field(summary, 75),
      field(tag, 40),
      field(parameters.map(({ name }) => name).join(' '), 30),
      field([...names, ...referredSchemas(answered)].join(' '), 20),
      field(description, 8),
    ],
  };
}

function field(text: string, score: number): Entry['fields'][number] {
  return { text: text.toLowerCase(), words: wordsOf(text), score };
}

/** `createChatCompletion` → `create`, `chat`, `completion`; also splits at every other sign. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** The entries that match, best first; entries with the same score in the order of the document. */
export function searchReference(index: SearchIndex, query: string): SearchResult[] {
  const whole = query.trim().toLowerCase();
  const terms = whole.split(/\s+/).filter((term) => term !== '');
  if (terms.length === 0) return [];
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, terms, whole) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

/** Matches in further fields count little, but decide between entries with the same best field. */
const otherFieldsShare = 0.2;

function scoreOf({ fields }: Entry, terms: readonly string[], whole: string): number {
  let total = 0;
  for (const term of terms) {
    const scores = fields.map((candidate) => matchScore(candidate, term));
    const best = Math.max(...scores);
    if (best === 0) return 0;
    total += best + otherFieldsShare * (scores.reduce((sum, score) => sum + score, 0) - best);
  }
  // The whole query as the name or the path is what the user looks for.
  return fields.some(({ text }) => text === whole) ? total + 1_000 : total / terms.length;
}

/** Full for a word, less for the start of one, little for a match inside; the part of the field that matches breaks ties. */
function matchScore({ text, words, score }: Entry['fields'][number], term: string): number {
  const share = Math.min(term.length / Math.max(text.length, 1), 1);
  if (words.includes(term) || (/[^a-z0-9]/.test(term) && text.includes(term))) return score * (1 + share);
  if (words.some((word) => word.startsWith(term))) return score * (0.8 + share);
  // Letters inside words match by chance in long texts.
  return term.length > 2 && score > 10 && text.includes(term) ? score * (0.4 + share) : 0;
}

/** Chooses a tool and its arguments from plain text for the rehearsal model: rules over names and schemas. */
import { listOf, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { spaceWords } from '../../core/names/name-words.ts';

export type RehearsalTool = { name: string; description: string; parameters: Record<string, unknown>; aliases: readonly string[] };

type Property = { type: string; enum: unknown[] | null; fallback: unknown };

/**
 * Parses the arguments after `/name`: JSON unchanged (valid or not, so that invalid JSON can be tested), `key=value …` typed by the schema,
 * or free text for the first required string parameter. Returns the argument text to send.
 */
export function parseArgumentLine(rest: string, tool: RehearsalTool | undefined): string {
  if (rest.startsWith('{')) return rest;
  if (rest === '') return '{}';
  const properties = tool === undefined ? new Map<string, Property>() : propertiesOf(tool);
  const pairs = readPairs(rest);
  if (pairs !== null && (tool === undefined || properties.has(pairs[0]?.[0] ?? ''))) {
    return JSON.stringify(Object.fromEntries(pairs.map(([key, value]) => [key, typed(value, properties.get(key))])));
  }
  const key = tool === undefined ? 'input' : textParameter(tool, properties);
  return JSON.stringify({ [key]: typed(rest, properties.get(key)) });
}

/** Returns the tool whose names (more) and description (less) share the most words with the input; undefined if too few match. */
export function bestTool(input: string, tools: readonly RehearsalTool[]): RehearsalTool | undefined {
  const wanted = wordsOf(input);
  let best: RehearsalTool | undefined;
  let bestScore = 2;
  for (const tool of tools) {
    const named = new Set([tool.name, ...tool.aliases].flatMap((name) => [...wordsOf(name)]));
    const described = wordsOf(tool.description);
    let score = 0;
    for (const word of wanted) score += named.has(word) ? 3 : described.has(word) ? 1 : 0;
    if (score > bestScore) [best, bestScore] = [tool, score];
  }
  return best;
}

/** Fills every required parameter from the input: a quoted text, a path, a URL, a number, or the input itself. */
export function guessArguments(input: string, tool: RehearsalTool): Record<string, unknown> {
  const properties = propertiesOf(tool);
  const quoted = [...input.matchAll(/`([^`]+)`|"([^"]+)"|“([^”]+)”/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  const guessed = requiredOf(tool).map((key): [string, unknown] => [key, guess(key, properties.get(key), input, quoted)]);
  return Object.fromEntries(guessed);
}

function guess(key: string, property: Property | undefined, input: string, quoted: string[]): unknown {
  if (property?.fallback !== undefined) return property.fallback;
  if (property?.enum) return property.enum.find((value) => input.includes(String(value))) ?? property.enum[0];
  switch (property?.type) {
    case 'integer':
    case 'number':
      return Number(/-?\d+/.exec(input)?.[0] ?? 0);
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return guessText(key, input, quoted);
  }
}

function guessText(key: string, input: string, quoted: string[]): string {
  if (/url|uri|link/i.test(key)) return /https?:\/\/[^\s`"'<>]+/.exec(input)?.[0] ?? quoted.shift() ?? '';
  if (/path|file|dir|folder/i.test(key))
    return /(?:^|[\s`"'])(\/?[\w.-]+(?:\/[\w.-]*)+|[\w-]+\.\w{1,8})(?=$|[\s`"',?!])/.exec(input)?.[1] ?? quoted.shift() ?? '.';
  return quoted.shift() ?? input.trim();
}

/** `key=value key="two words"`; null if anything else is in between. */
function readPairs(rest: string): [string, string][] | null {
  const pairs: [string, string][] = [];
  const pattern = /([A-Za-z_][\w.-]*)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)(?:\s+|$)/y;
  while (pattern.lastIndex < rest.length) {
    const match = pattern.exec(rest);
    if (match === null) return null;
    pairs.push([match[1] ?? '', match[2] ?? '']);
  }
  return pairs;
}

function typed(written: string, property: Property | undefined): unknown {
  const value = unquoted(written);
  switch (property?.type) {
    case 'string':
      return value;
    case 'array':
      return tryParse(value) ?? value.split(',');
    case undefined:
      return written === value ? (tryParse(value) ?? value) : value;
    default:
      // Numbers, booleans, objects; anything else stays text, and the tool's own check reports it.
      return tryParse(value) ?? value;
  }
}

function unquoted(written: string): string {
  if (written.startsWith("'") && written.endsWith("'") && written.length > 1) return written.slice(1, -1);
  const parsed = written.startsWith('"') ? tryParse(written) : undefined;
  return typeof parsed === 'string' ? parsed : written;
}

function propertiesOf(tool: RehearsalTool): Map<string, Property> {
  return new Map(
    Object.entries(recordOf(tool.parameters.properties)).map(([key, schema]) => {
      const { type, enum: values, default: fallback } = recordOf(schema);
      const named = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
      return [key, { type: typeof named === 'string' ? named : 'string', enum: Array.isArray(values) ? values : null, fallback }];
    }),
  );
}

function requiredOf(tool: RehearsalTool): string[] {
  return listOf(tool.parameters.required).filter((key) => typeof key === 'string');
}

function textParameter(tool: RehearsalTool, properties: ReadonlyMap<string, Property>): string {
  const required = requiredOf(tool);
  const isText = (key: string): boolean => properties.get(key)?.type === 'string';
  return required.find(isText) ?? required[0] ?? [...properties.keys()].find(isText) ?? [...properties.keys()][0] ?? 'input';
}

const fillers = new Set(
  'the and for with you your can please what which this that from into have has are was will would could should tool tools use using run not any all out its'.split(
    ' ',
  ),
);

/** Returns lower-case words of three letters and more; splits names at their boundaries and drops a plural `s`. */
function wordsOf(text: string): Set<string> {
  const words = spaceWords(text)
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
  return new Set(words.filter((word) => word.length > 2 && !fillers.has(word)));
}

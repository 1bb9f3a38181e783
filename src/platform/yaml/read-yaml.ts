/**
 * A text of YAML 1.2 as data, by its core schema: null, booleans, numbers, texts, lists and maps; no dates, no merge keys, and whatever
 * other tag stands before a value makes it nothing but text. Keys are texts as they were written. One walk over the parser's events, so that
 * aliases are counted before they multiply. Not here: what must be in a document. Used for a skill's frontmatter and for OpenAPI documents.
 *
 * YAML 1.2.2, §10.3 "Core Schema", §7.1 "Alias Nodes".
 */
import { EVENT_ID, parseEvents, type Event, YAMLException } from 'js-yaml';
import { YamlBuilder } from './yaml-builder.ts';
import { placeAt, YamlFault } from './yaml-fault.ts';

export type YamlBounds = {
  maxDepth: number;
  /** Of what separates one value from the next: it takes memory for each before anything is known of it. */
  maxSeparators: number;
  /** How many characters and values aliases may stand for altogether; 0: there may be none. */
  maxAliased: number;
  /** The member of the document whose texts stay as they were written, where they look like numbers too. */
  writtenIn?: string;
};

/** null for a text without a document. Throws `YamlFault`, and nothing else. */
export function readYaml(text: string, bounds: YamlBounds): unknown {
  if (hasMoreSeparators(text, bounds.maxSeparators)) throw new YamlFault('parts', 'it has too many values');
  // The parser says it too, with an excerpt for which it takes each of them for the end of a line.
  const nothing = text.indexOf('\0');
  if (nothing >= 0) throw new YamlFault('syntax', 'it holds a null character', placeAt(text, nothing));
  const events = parse(text, bounds.maxDepth);
  if (events.filter(({ type }) => type === EVENT_ID.DOCUMENT).length > 1) {
    throw new YamlFault('syntax', 'it is more than one document');
  }
  const builder = new YamlBuilder(text, bounds);
  // From the end of a list, so that each is let go once it is read: together they take several times the memory of the value.
  events.reverse();
  for (let event = events.pop(); event !== undefined; event = events.pop()) builder.take(event);
  return builder.value;
}

function parse(text: string, maxDepth: number): Event[] {
  try {
    return parseEvents(text, { maxDepth });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason.includes('maxDepth')) throw new YamlFault('depth', 'it is nested too deeply');
    const { mark, reason } = error;
    throw new YamlFault('syntax', clearer[reason] ?? reason, mark && { line: mark.line + 1, column: mark.column + 1 });
  }
}

/** What the parser says in words that nobody could act on. */
const clearer: Readonly<Record<string, string>> = {
  'deficient indentation': 'a list [, a map { or a text was not closed before here, or this line needs more spaces before it',
};

/** At least one of these stands between any two values. In prose they stand too, which is why the bound is a generous one. */
function hasMoreSeparators(text: string, most: number): boolean {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === comma || code === colon || code === bracket || code === brace || code === lineFeed || code === carriageReturn) count += 1;
    else if ((code === dash || code === questionMark) && text.charCodeAt(at + 1) <= space) count += 1;
  }
  return count > most;
}

const comma = 0x2c;
const colon = 0x3a;
const bracket = 0x5b;
const brace = 0x7b;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dash = 0x2d;
const questionMark = 0x3f;
const space = 0x20;

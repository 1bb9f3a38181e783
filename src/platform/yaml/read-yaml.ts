/**
 * Parses YAML 1.2 with the core schema: null, booleans, numbers, strings, lists and maps; no dates and no merge keys, and a value with
 * another tag is a string. Keys are strings as written. Processes the parser's events in one pass, so that aliases are counted before they
 * are expanded. Used for a skill's frontmatter and for OpenAPI documents, which validate the content.
 * YAML 1.2.2, §10.3 "Core Schema", §7.1 "Alias Nodes".
 */
import { EVENT_ID, parseEvents, type Event, YAMLException } from 'js-yaml';
import { YamlBuilder } from './yaml-builder.ts';
import { positionAt, YamlFault } from './yaml-fault.ts';

export type YamlBounds = {
  maxDepth: number;
  /** Separators between values: the parser allocates memory for each one first. */
  maxSeparators: number;
  /** How many characters and values the aliases may expand to in total; 0: no aliases. */
  maxAliased: number;
  /** The member of the document whose scalars stay as written, even if they look like numbers. */
  writtenIn?: string;
};

/** Returns null for a text without a document. Throws `YamlFault`, and nothing else. */
export function readYaml(text: string, bounds: YamlBounds): unknown {
  if (hasMoreSeparators(text, bounds.maxSeparators)) throw new YamlFault('parts', 'it has too many values');
  // Checked first, because the parser's message has an excerpt in which null characters count as line ends.
  const nothing = text.indexOf('\0');
  if (nothing >= 0) throw new YamlFault('syntax', 'it contains a null character', positionAt(text, nothing));
  const events = parse(text, bounds.maxDepth);
  if (events.filter(({ type }) => type === EVENT_ID.DOCUMENT).length > 1) {
    throw new YamlFault('syntax', 'it contains more than one document');
  }
  const builder = new YamlBuilder(text, bounds);
  // Taken from the end of a reversed list, so that each event is freed after use: together they take several times the memory of the value.
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

/** Replacements for unclear messages of the parser. */
const clearer: Readonly<Record<string, string>> = {
  'deficient indentation': 'a list [, a map { or a text was not closed before here, or this line needs more spaces before it',
};

/** At least one of these is between any two values. Prose contains them too, so the limit is generous. */
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

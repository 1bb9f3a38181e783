/**
 * Parses YAML 1.2 with the core schema: null, booleans, numbers, strings, lists and maps; no dates, and a value with another tag is a string.
 * Keys are strings as written. Of YAML 1.1 it has merge keys (`<<: *defaults`), which the configuration of Python programs uses; other 1.1
 * values are read as 1.2 reads them: `yes` and `on` are strings, `010` is ten, `1:30` is a string. Processes the parser's events in one pass, so that aliases are counted before they
 * are expanded. Used for a skill's frontmatter, for imports, projects and OpenAPI documents, which validate the content.
 * YAML 1.2.2, §10.3 "Core Schema", §7.1 "Alias Nodes". Merge keys: https://yaml.org/type/merge.html.
 */
import {
  EVENT_ID,
  parseEvents,
  type Event,
  YAMLException,
  boolCoreTag,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { isRecord, type Json } from '../core/json/wire-value.ts';

export type YamlBounds = {
  maxDepth: number;
  /** Separators between values: the parser allocates memory for each one first. */
  maxSeparators: number;
  /** How many characters and values the aliases may expand to in total; 0: no aliases. */
  maxAliased: number;
  /** The member of the document whose scalars stay as written, even if they look like numbers. */
  writtenIn?: string;
};

/** Returns null for a text without a document. Throws `TextFault`, and nothing else. */
export function readYaml(text: string, bounds: YamlBounds): unknown {
  if (hasMoreSeparators(text, bounds.maxSeparators)) throw new TextFault('parts', 'it has too many values');
  // Checked first, because the parser's message has an excerpt in which null characters count as line ends.
  const nothing = text.indexOf('\0');
  if (nothing >= 0) throw new TextFault('syntax', 'it contains a null character', positionAt(text, nothing));
  const events = parse(text, bounds.maxDepth);
  if (events.filter(({ type }) => type === EVENT_ID.DOCUMENT).length > 1) {
    throw new TextFault('syntax', 'it contains more than one document');
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
    if (error.reason.includes('maxDepth')) throw new TextFault('depth', 'it is nested too deeply');
    const { mark, reason } = error;
    throw new TextFault('syntax', clearer[reason] ?? reason, mark && { line: mark.line + 1, column: mark.column + 1 });
  }
}

/** Replacements for unclear messages of the parser. */
const clearer: Readonly<Record<string, string>> = {
  'deficient indentation': 'a list [, a map { or a text was not closed before here, or this line needs more spaces before it',
};

/** At least one of these is between any two values. Prose contains them too, so the limit is generous. */
function hasMoreSeparators(text: string, most: number): boolean {
  const separators = /[,:[{\n\r]|[-?](?=[ \t\n\r])/g;
  let count = 0;
  while (count <= most && separators.test(text)) count += 1;
  return count > most;
}

// Builds the value of a YAML document from the parser's events. An alias shares the value of its anchor; the size that the document would
// have with all aliases expanded is counted and bounded.

/** A value with its size: the number of characters and values in it, including itself. */
type Sized = { value: unknown; size: number };

type Open = {
  anchor: string | null;
  size: number;
  /** Its scalars stay as written. */
  isWritten: boolean;
} & ({ kind: 'list'; value: unknown[] } | OpenMap);

/** `merged`: the maps of its merge key; null: it has none. */
type OpenMap = { kind: 'map'; value: Json; key: string | typeof mergeKey | null; merged: readonly Json[] | null };

/** The key of a map whose value is merged into the map. */
const mergeKey = Symbol('<<');

class YamlBuilder {
  value: unknown = null;
  private readonly open: Open[] = [];
  /** null: the anchor's value is not complete. */
  private readonly anchors = new Map<string, Sized | null>();
  private aliased = 0;
  /** The offset of the last non-empty scalar, since an empty one has no position. */
  private at = 0;
  private readonly text: string;
  private readonly maxAliased: number;
  private readonly writtenIn: string | null;

  constructor(text: string, { maxAliased, writtenIn }: { maxAliased: number; writtenIn?: string }) {
    this.text = text;
    this.maxAliased = maxAliased;
    this.writtenIn = writtenIn ?? null;
  }

  take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        return;
      case EVENT_ID.SCALAR:
        this.takeScalar(event);
        return;
      case EVENT_ID.ALIAS:
        this.add(this.follow(event.anchorStart, event.anchorEnd), event.anchorStart - 1);
        return;
      case EVENT_ID.POP:
        this.close();
        return;
      default: {
        this.refuseAsKey(event.start);
        const above = this.open.at(-1);
        const anchor = this.nameOf(event);
        if (anchor !== null) this.anchors.set(anchor, null);
        const isWritten =
          above !== undefined && (above.isWritten || (this.open.length === 1 && above.kind === 'map' && above.key === this.writtenIn));
        const open = { anchor, size: 1, isWritten };
        this.open.push(
          event.type === EVENT_ID.MAPPING
            ? { ...open, kind: 'map', value: {}, key: null, merged: null }
            : { ...open, kind: 'list', value: [] },
        );
      }
    }
  }

  private takeScalar(event: ScalarEvent): void {
    const above = this.open.at(-1);
    const written = getScalarValue(this.text, event);
    const isText = above?.isWritten === true || isKeyNext(above);
    if (isMergeKey(event, written) && above?.kind === 'map' && above.key === null && !above.isWritten) {
      this.at = event.valueStart;
      if (above.merged !== null) throw this.fault('"<<" is given twice; merge several maps with one list: <<: [*a, *b]', this.at);
      above.key = mergeKey;
      return;
    }
    const sized = { value: isText ? written : this.resolve(event, written), size: 1 + written.length };
    const anchor = this.nameOf(event);
    if (anchor !== null) this.anchors.set(anchor, sized);
    this.at = event.valueStart < 0 ? this.at : event.valueStart - (isQuoted(event) ? 1 : 0);
    this.add(sized, this.at);
  }

  private resolve(event: ScalarEvent, written: string): unknown {
    if (event.tagStart < 0) return event.style === SCALAR_STYLE.PLAIN ? resolvePlain(written) : written;
    const tag = tags.get(this.text.slice(event.tagStart, event.tagEnd));
    if (tag === undefined) return written;
    const value = tag.resolve(written, true, tag.tagName);
    if (value === NOT_RESOLVED) throw this.fault('a value does not match its tag (!!)', event.tagStart);
    return value;
  }

  private follow(start: number, end: number): Sized {
    const name = this.text.slice(start, end);
    const sized = this.anchors.get(name);
    if (sized === undefined) throw this.fault(`the alias *${name} has no anchor before it`, start - 1);
    if (sized === null) throw this.aliasFault(`the alias *${name} refers to a value that contains it`, start - 1);
    this.aliased += sized.size;
    if (this.aliased > this.maxAliased) throw this.aliasFault('its aliases (*name) expand to too much', start - 1);
    return sized;
  }

  private close(): void {
    const closed = this.open.pop();
    // The end of the document.
    if (closed === undefined) return;
    if (closed.kind === 'map' && closed.merged !== null) closed.value = withMerged(closed.value, closed.merged);
    if (closed.anchor !== null) this.anchors.set(closed.anchor, closed);
    this.add(closed, 0);
  }

  private add({ value, size }: Sized, at: number): void {
    const above = this.open.at(-1);
    if (above === undefined) {
      this.value = value;
      return;
    }
    above.size += size;
    if (above.kind === 'list') above.value.push(value);
    else if (above.key === mergeKey) {
      above.merged = this.toMaps(value, at);
      above.key = null;
    } else if (above.key !== null) {
      setMember(above.value, above.key, value);
      above.key = null;
    } else above.key = this.toKey(above.value, value, at);
  }

  private toKey(map: Json, value: unknown, at: number): string {
    // For an alias of a map, which is read as a value at its position.
    if (typeof value === 'object' && value !== null) throw this.fault('a key must be a string', at);
    const key = String(value);
    if (Object.hasOwn(map, key)) throw this.fault(`${JSON.stringify(key)} is given twice`, at);
    return key;
  }

  /** Returns what a merge key gives: one map, or a list of them. */
  private toMaps(value: unknown, at: number): readonly Json[] {
    const maps = Array.isArray(value) ? value : [value];
    if (!maps.every(isRecord)) throw this.fault('the value of a merge key (<<) must be a map or a list of maps', at);
    return maps;
  }

  private refuseAsKey(at: number): void {
    if (isKeyNext(this.open.at(-1))) throw this.fault('a key must be a string', at);
  }

  private nameOf({ anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number }): string | null {
    return anchorStart < 0 ? null : this.text.slice(anchorStart, anchorEnd);
  }

  private fault(message: string, at: number): TextFault {
    return new TextFault('syntax', message, positionAt(this.text, at));
  }

  private aliasFault(message: string, at: number): TextFault {
    return new TextFault('aliases', message, positionAt(this.text, at));
  }
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

function isKeyNext(above: Open | undefined): boolean {
  return above?.kind === 'map' && above.key === null;
}

/** Quoted, or with a tag, it is an ordinary name. */
function isMergeKey({ style, tagStart, anchorStart }: ScalarEvent, written: string): boolean {
  return written === '<<' && style === SCALAR_STYLE.PLAIN && tagStart < 0 && anchorStart < 0;
}

/** Own members take precedence, then those of earlier maps. */
function withMerged(own: Json, merged: readonly Json[]): Json {
  return Object.fromEntries([...merged.toReversed(), own].flatMap((map) => Object.entries(map)));
}

/** `__proto__` is an ordinary name. */
function setMember(map: Json, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

const implicit = [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag];

/** Only the standard forms; a name that `%TAG` or `!<…>` defines is read as a string. */
const tags = new Map(implicit.map((tag) => [tag.tagName.replace('tag:yaml.org,2002:', '!!'), tag] as const));

function resolvePlain(written: string): unknown {
  if (written !== '' && !/^[-+.\d~nNtTfF]/.test(written)) return written;
  for (const { resolve, tagName } of implicit) {
    const value = resolve(written, false, tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return written;
}

// Why a YAML text is invalid, and where. Callers convert it to a problem with a message that fits the document.

/** `aliases`: they expand to too much, or are not allowed; `parts` and `depth`: too many or too deeply nested values. */
type FaultKind = 'syntax' | 'aliases' | 'parts' | 'depth';

/** Both start at 1. */
type TextPosition = { line: number; column: number };

export class TextFault extends Error {
  readonly kind: FaultKind;
  readonly place: TextPosition | null;

  constructor(kind: FaultKind, message: string, place: TextPosition | null = null) {
    super(message);
    this.kind = kind;
    this.place = place;
  }
}

/** Returns the position of an offset. Only for reported faults, since it scans all the text before the offset. */
function positionAt(text: string, offset: number): TextPosition {
  const lines = text.slice(0, offset).split(/\r\n?|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
